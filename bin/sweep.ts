#!/usr/bin/env node
import { main } from '../lib/cli/main.ts';
import { processWorld } from '../lib/cli/process-world.ts';

process.exitCode = await main(process.argv.slice(2), processWorld());
