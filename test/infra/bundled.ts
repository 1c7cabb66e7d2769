import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { LedgersweepPipeline } from '../../lib/cdk/index.ts';
import { app, PROPS, rendered, resource } from './synthesis.ts';

export const FUNCTIONS = ['Dispatcher', 'Consumer', 'Redrive', 'Reconciler'] as const;

/** What Lambda would unpack of one function, and the variables it would set. */
export interface Bundle {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Bundles every function as a deployment would. */
export function bundled(): ReadonlyMap<string, Bundle> {
  const bundling = app({ 'aws:cdk:bundling-stacks': ['**'], 'aws:cdk:enable-asset-metadata': true });
  const stack = new Stack(bundling, 'Own');
  new LedgersweepPipeline(stack, 'Pipeline', PROPS);
  const template = Template.fromStack(stack);
  return new Map(FUNCTIONS.map((name) => [name, bundleOf(template, bundling.outdir, name)]));
}

function bundleOf(template: Template, outdir: string, name: string): Bundle {
  const { Properties, Metadata } = resource(template, 'AWS::Lambda::Function', `${name}Function`);
  const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
  return {
    folder: join(outdir, String(Metadata?.['aws:asset:path'])),
    variables: Object.fromEntries(Object.entries(Variables).map(([variable, value]) => [variable, rendered(value)])),
  };
}
