import { SETTING_PROPS } from '../../lib/cdk/setting-props.ts';
import { SETTING_KEYS, SETTINGS, type SettingDefinition, type SettingKey } from '../../lib/core/policy/settings.ts';

const GROUPS = ['What', 'When', 'How', 'Limits', 'Operations'] as const;

const INTRODUCTION = `# Parameters

Made from the settings table (\`lib/core/policy/settings.ts\`); a test compares the two. Each is a CloudFormation parameter
of the stack and a prop of the construct. A value that does not fit is refused at deployment (or synthesis), and again
by the dispatcher. Those marked ● decide which records are due and what happens to them: change them only together with
\`PolicyVersion\`. What needs what, and what they do together, is in the [operating guide](operating.md).
`;

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function defaultOf({ default: text }: SettingDefinition): string {
  if (text === undefined) return '*must be given*';
  return text === '' ? 'blank' : `\`${text}\``;
}

function row(key: SettingKey): string {
  const definition: SettingDefinition = SETTINGS[key];
  const { parameter, description, constraint, inPolicyDigest } = definition;
  const name = `\`${parameter}\`${inPolicyDigest ? ' ●' : ''}`;
  return `| ${[name, `\`${SETTING_PROPS[key].prop}\``, cell(description), defaultOf(definition), cell(constraint)].join(' | ')} |`;
}

/** The page of all parameters, as docs/parameters.md holds it. */
export function parametersPage(): string {
  const sections = GROUPS.map((group) =>
    [
      `## ${group}`,
      '',
      '| parameter | prop | | default | must be |',
      '|---|---|---|---|---|',
      ...SETTING_KEYS.filter((key) => SETTINGS[key].group === group).map(row),
      '',
    ].join('\n'),
  );
  return [INTRODUCTION, ...sections].join('\n');
}
