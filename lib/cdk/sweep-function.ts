import { join } from 'node:path';
import type { Duration } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionName, handlerEntry, packageRoot } from './handler-entry.ts';
import { lifespanOf } from './lifespan.ts';
import { standIns } from './stand-ins.ts';

export interface SweepFunctionProps {
  readonly name: FunctionName;
  readonly description: string;
  readonly memoryMebibytes: number;
  readonly timeout: Duration;
  /** One of the periods that CloudWatch knows, or a token of one. */
  readonly logRetentionDays: number;
  readonly environment: Readonly<Record<string, string>>;
}

// CommonJS that esbuild folds into an ES module still calls `require` for Node's own modules (pitfall P69). The long
// name cannot meet an import of the bundle itself.
const REQUIRE_BANNER =
  "import{createRequire as ledgersweepCreateRequire}from'node:module';const require=ledgersweepCreateRequire(import.meta.url);";

/** One function with a role and a log group of its own. The role starts with the right to write that log. */
export class SweepFunction extends Construct {
  readonly function: NodejsFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: SweepFunctionProps) {
    super(scope, id);
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup = new LogGroup(this, 'LogGroup', {
      retention: props.logRetentionDays,
      removalPolicy: lifespanOf(this).removalPolicy,
    });
    this.logGroup.grantWrite(this.role);
    this.function = new NodejsFunction(this, 'Function', {
      entry: handlerEntry(props.name),
      projectRoot: packageRoot(),
      // Names the package manager only; an installed package has no lock file of its own.
      depsLockFilePath: join(packageRoot(), 'package.json'),
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMebibytes,
      timeout: props.timeout,
      environment: { ...props.environment },
      role: this.role,
      logGroup: this.logGroup,
      bundling: {
        format: OutputFormat.ESM,
        minify: true,
        logLevel: LogLevel.WARNING,
        bundleAwsSDK: true,
        mainFields: ['module', 'main'],
        banner: REQUIRE_BANNER,
        esbuildArgs: { '--alias': standIns() },
      },
    });
  }

  /** Grants exactly these actions on exactly these resources; nothing here ever needs a wildcard. */
  allow(actions: readonly string[], ...resources: readonly string[]): void {
    this.role.addToPrincipalPolicy(new PolicyStatement({ actions: [...actions], resources: [...resources] }));
  }
}
