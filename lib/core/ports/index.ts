export * from './admission.ts';
export * from './failure.ts';
export * from './ledger.ts';
export * from './probe.ts';
export * from './queue.ts';
export * from './record-source.ts';
export * from './services.ts';
export * from './target.ts';
