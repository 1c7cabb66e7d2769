export { LedgersweepPipeline } from './ledgersweep-pipeline.ts';
export { LedgersweepStack } from './ledgersweep-stack.ts';
export { PipelineOutputs } from './outputs.ts';
export type { LedgersweepPipelineProps } from './pipeline-props.ts';
export { PipelineResources } from './pipeline-resources.ts';
