#!/usr/bin/env node
import { App } from 'aws-cdk-lib';
import { LedgersweepStack } from '../lib/cdk/index.ts';

const app = new App();
new LedgersweepStack(app, app.node.tryGetContext('ledgersweep:stack') ?? 'Ledgersweep');
