import type { Construct } from 'constructs';
import type { LedgersweepPipelineProps } from './pipeline-props.ts';
import { PipelineResources } from './pipeline-resources.ts';
import { readProps } from './read-props.ts';

/**
 * One retention policy as a construct, for an app of one's own. Throws at synthesis, once and with everything that is
 * wrong. Add `PipelineOutputs` to its stack for `sweep` to find it.
 */
export class LedgersweepPipeline extends PipelineResources {
  constructor(scope: Construct, id: string, props: LedgersweepPipelineProps) {
    super(scope, id, readProps(props));
  }
}
