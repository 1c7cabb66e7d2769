import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../lib/aws/log.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function capture(method: 'info' | 'warn' | 'error'): string[] {
  const lines: string[] = [];
  // In development mode Powertools writes by the global console, which is what a test can see.
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.spyOn(console, method).mockImplementation((line: string) => void lines.push(line));
  return lines;
}

describe('log', () => {
  it('writes one event as JSON with its fields and those common to all', () => {
    const lines = capture('warn');
    createLog({ policyId: 'accounts' }).event('warn', 'unit-retried', { runId: 'r', attempts: 2, unit: null });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'WARN',
      message: 'unit-retried',
      service: 'ledgersweep',
      policyId: 'accounts',
      runId: 'r',
      attempts: 2,
    });
  });

  it('P76: a tenant with a newline cannot forge an event of its own', () => {
    const lines = capture('info');
    createLog().event('info', 'unit-started', { tenant: 'a\n{"level":"ERROR","message":"forged"}' });
    expect(lines).toHaveLength(1);
    const parsed = JSON.parse(lines[0] ?? '');
    expect(parsed.level).toBe('INFO');
    expect(parsed.tenant).toContain('forged');
    // Pretty-printing in development mode breaks lines between properties; none breaks inside a value.
    expect(lines[0]).toContain('a\\n{');
  });
});
