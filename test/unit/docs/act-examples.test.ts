import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readActRequest } from '../../../lib/core/redrive/request.ts';

const GUIDE = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');

/** Every JSON block of the guide: all of them are test events that a person pastes into the console. */
const EXAMPLES = [...GUIDE.matchAll(/^ *```json\n(.*?)^ *```$/gms)].map(([, json = '']) => json);

const ACTS = ['list', 'inspect', 'redrive', 'abandon', 'abandon-message', 'pause', 'resume', 'cancel'];

describe('the examples of the operating guide', () => {
  it.each(EXAMPLES)('are accepted as they are pasted: %s', (json) => {
    expect(() => readActRequest(JSON.parse(json))).not.toThrow();
  });

  it('show every act', () => {
    const shown = EXAMPLES.map((json) => readActRequest(JSON.parse(json)).act);
    expect([...new Set(shown)].sort()).toEqual([...ACTS].sort());
  });

  it('explain every field that a filter has', () => {
    const every = { run: 'r', unit: '1', tenant: 't', reason: 'x', errorClass: 'E', olderThanHours: 1 };
    const request = readActRequest({ act: 'list', filter: every });
    const fields = request.act === 'list' ? Object.keys(request.filter) : [];
    expect(fields).toHaveLength(Object.keys(every).length);
    for (const field of fields) expect(GUIDE, field).toContain(`\`filter.${field}\``);
  });
});
