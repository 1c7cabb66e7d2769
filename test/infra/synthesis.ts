import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { packageRoot } from '../../lib/cdk/handler-entry.ts';
import { LedgersweepPipeline, type LedgersweepPipelineProps, LedgersweepStack } from '../../lib/cdk/index.ts';

/** One resource of a synthesised template; its properties as CloudFormation sees them. */
export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly Condition?: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly DependsOn?: readonly string[];
  readonly Metadata?: Readonly<Record<string, unknown>>;
}

// Without a folder of ours the CDK leaves its output in the system's temporary folder.
export const scratch = join(packageRoot(), '.local', `infra-${process.pid}`);
let apps = 0;

/** An app with the context of `cdk.json` and no bundling: for tests that look at the template alone. */
export function app(context: Readonly<Record<string, unknown>> = {}): App {
  const cdkJson: { context: Record<string, unknown> } = JSON.parse(
    readFileSync(join(packageRoot(), 'cdk.json'), 'utf8'),
  );
  apps += 1;
  return new App({
    outdir: join(scratch, String(apps)),
    context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [], ...context },
  });
}

/** The template that `cdk deploy` would send. */
export function stackTemplate(context: Readonly<Record<string, unknown>> = {}): Template {
  return Template.fromStack(new LedgersweepStack(app(context), 'Ledgersweep'));
}

export const PROPS: LedgersweepPipelineProps = {
  policyId: 'inactive-accounts',
  policyVersion: '1',
  recordTableName: 'accounts',
  timestampAttribute: 'lastActivityAt',
  timestampFormat: 'iso-8601',
  retention: Duration.days(365),
};

/** The template of somebody's own stack with the pipeline as a construct in it. */
export function pipelineTemplate(props: Partial<LedgersweepPipelineProps> = {}): Template {
  const stack = new Stack(app(), 'Own');
  new LedgersweepPipeline(stack, 'Pipeline', { ...PROPS, ...props });
  return Template.fromStack(stack);
}

/** Resources of one type by logical id. */
export function resources(template: Template, type: string): Readonly<Record<string, Resource>> {
  return template.findResources(type) as Record<string, Resource>;
}

/** The one resource of a type that has this plain name. */
export function resource(template: Template, type: string, name: string): Resource {
  const found = Object.entries(resources(template, type)).filter(([id]) => plainName(id) === name);
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`${found.length} resources ${type} named ${name}`);
  return only[1];
}

/** A logical id as a reader says it: `PipelineLedgerTable39667874` is `LedgerTable`. */
export function plainName(logicalId: string): string {
  return logicalId.replace(/^Pipeline/, '').replace(/[0-9A-F]{8}$/, '');
}

/** A CloudFormation value as text: references as `<name>`, joins joined. */
export function rendered(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  const [[kind, operand] = ['', undefined]] = Object.entries(value);
  switch (kind) {
    case 'Ref':
      return `<${plainName(String(operand))}>`;
    case 'Fn::GetAtt':
      return `<${plainName(String((operand as unknown[])[0]))}>`;
    case 'Fn::Join':
      return ((operand as unknown[])[1] as unknown[]).map(rendered).join('');
    default:
      return JSON.stringify(value);
  }
}
