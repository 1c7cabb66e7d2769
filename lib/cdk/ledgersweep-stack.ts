import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { PipelineOutputs } from './outputs.ts';
import { addParameters } from './parameters.ts';
import { PipelineResources } from './pipeline-resources.ts';
import { addRelationRules } from './relations.ts';

/** One retention policy as a stack: every setting is a CloudFormation parameter, so one template serves all policies. */
export class LedgersweepStack extends Stack {
  readonly pipeline: PipelineResources;

  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, {
      description:
        'Ledgersweep: finds the records that a retention policy says are due, and proves what became of them.',
      ...props,
    });
    const settings = addParameters(this);
    addRelationRules(this, settings);
    this.pipeline = new PipelineResources(this, 'Pipeline', settings);
    new PipelineOutputs(this, 'Outputs', this.pipeline);
  }
}
