import type { Template } from 'aws-cdk-lib/assertions';
import { plainName, type Resource, stackTemplate } from './synthesis.ts';

export interface Parameter {
  readonly Type: string;
  readonly Default?: string;
  readonly Description?: string;
  readonly ConstraintDescription?: string;
  readonly AllowedPattern?: string;
  readonly AllowedValues?: readonly string[];
  readonly MinLength?: number;
  readonly MaxLength?: number;
}

interface Rule {
  readonly RuleCondition?: unknown;
  readonly Assertions: readonly { readonly Assert: unknown; readonly AssertDescription: string }[];
}

interface Json {
  readonly Parameters: Readonly<Record<string, Parameter>>;
  readonly Rules: Readonly<Record<string, Rule>>;
  readonly Conditions: Readonly<Record<string, unknown>>;
  readonly Mappings: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
  readonly Resources: Readonly<Record<string, Resource>>;
}

const NO_VALUE = Symbol('AWS::NoValue');

/** Values that a deployment must give, because the template has no default for them. */
const GIVEN = {
  PolicyId: 'inactive-accounts',
  PolicyVersion: 'v1',
  RecordTableName: 'accounts',
  TimestampAttribute: 'lastActivity',
  TimestampFormat: 'iso-8601',
  RetentionDays: '365',
  // CloudFormation reads it from the account; the CDK's own rule refuses versions before 6.
  BootstrapVersion: '30',
} as const;

let synthesised: Template | undefined;

export type Given = Readonly<Record<string, string>>;

/**
 * What CloudFormation makes of the stack's template and parameters: form, rules, conditions and the functions that the
 * template uses. References to resources become `<name>`.
 */
export class Deployment {
  readonly #json: Json;
  readonly #values: Given;

  constructor(given: Given = {}) {
    synthesised ??= stackTemplate();
    this.#json = synthesised.toJSON() as Json;
    const defaults = Object.entries(this.#json.Parameters).map(([name, { Default = '' }]) => [name, Default]);
    this.#values = { ...Object.fromEntries(defaults), ...GIVEN, ...given };
  }

  /** Why CloudFormation refuses the parameters before it touches a resource; empty where it deploys. */
  refusals(): readonly string[] {
    const malformed = Object.entries(this.#json.Parameters)
      .filter(([name, parameter]) => !accepts(parameter, this.#values[name] ?? ''))
      .map(([name, { ConstraintDescription }]) => `${name} ${ConstraintDescription}`);
    const broken = Object.values(this.#json.Rules)
      .filter(({ RuleCondition }) => RuleCondition === undefined || this.#evaluate(RuleCondition) === true)
      .flatMap(({ Assertions }) => Assertions.filter(({ Assert }) => this.#evaluate(Assert) !== true))
      .map(({ AssertDescription }) => AssertDescription);
    return [...malformed, ...broken];
  }

  /** Properties of the resources of a type that are deployed, by their plain names. */
  resources(type: string): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    const deployed = Object.entries(this.#json.Resources).filter(
      ([, { Type, Condition }]) => Type === type && (Condition === undefined || this.#condition(Condition)),
    );
    const named = deployed.map(([id, { Properties }]) => [plainName(id), this.#evaluate(Properties)]);
    return Object.fromEntries(named) as Record<string, Record<string, unknown>>;
  }

  #condition(id: string): boolean {
    return this.#evaluate(this.#json.Conditions[id]) === true;
  }

  #evaluate(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#evaluate(each)).filter((each) => each !== NO_VALUE);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [[name, operand] = ['', undefined]] = entries;
    if (entries.length === 1 && (name.startsWith('Fn::') || name === 'Ref' || name === 'Condition')) {
      return this.#call(name, operand);
    }
    const evaluated = entries.map(([key, each]) => [key, this.#evaluate(each)] as const);
    return Object.fromEntries(evaluated.filter(([, each]) => each !== NO_VALUE));
  }

  #call(name: string, operand: unknown): unknown {
    const operands = Array.isArray(operand) ? operand : [operand];
    const values = () => operands.map((each) => this.#evaluate(each));
    switch (name) {
      case 'Ref':
        if (operand === 'AWS::NoValue') return NO_VALUE;
        return this.#values[String(operand)] ?? `<${plainName(String(operand))}>`;
      case 'Condition':
        return typeof operand === 'string' && operand in this.#json.Conditions
          ? this.#condition(operand)
          : { Condition: this.#evaluate(operand) };
      case 'Fn::GetAtt':
        return `<${plainName(String(operands[0]))}>`;
      case 'Fn::Join':
        return (values()[1] as unknown[]).join(String(operands[0]));
      case 'Fn::Split':
        return String(values()[1]).split(String(operands[0]));
      case 'Fn::Contains':
        return (values()[0] as unknown[]).includes(values()[1]);
      case 'Fn::Sub':
        return String(operands[0]).replace(/\$\{([^}]+)\}/g, (_, name) => String(this.#call('Ref', name)));
      case 'Fn::Equals':
        return values()[0] === values()[1];
      case 'Fn::Not':
        return values()[0] !== true;
      case 'Fn::And':
        return values().every((each) => each === true);
      case 'Fn::If':
        return this.#evaluate(operands[this.#condition(String(operands[0])) ? 1 : 2]);
      case 'Fn::FindInMap': {
        const [map, row, column] = values().map(String);
        return this.#json.Mappings[map ?? '']?.[row ?? '']?.[column ?? ''];
      }
      default:
        throw new Error(`The template uses ${name}, which the tests do not evaluate`);
    }
  }
}

/** Whether the form of a String parameter fits; CloudFormation matches a pattern against the whole value. */
export function accepts(parameter: Parameter, value: string): boolean {
  const { AllowedPattern, AllowedValues, MinLength = 0, MaxLength = 4096 } = parameter;
  return (
    value.length >= MinLength &&
    value.length <= MaxLength &&
    (AllowedValues?.includes(value) ?? true) &&
    (AllowedPattern === undefined || new RegExp(`^(?:${AllowedPattern})$`).test(value))
  );
}
