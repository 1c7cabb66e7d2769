import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../lib/aws/log.ts';
import { TERMINAL_EVENTS } from '../../../lib/core/ports/index.ts';

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
  it('keeps every terminal event for the log that outlives the routine ones, and no other event', () => {
    const lines = capture('info');
    const kept: string[] = [];
    const log = createLog({ policyId: 'accounts' }, { add: (line) => void kept.push(line) });
    log.event('info', 'delivery', { runId: 'r' });
    for (const name of TERMINAL_EVENTS) log.event('info', name, { runId: 'r', tenant: 'a\n{}' });
    expect(lines).toHaveLength(TERMINAL_EVENTS.size + 1);
    const common = { level: 'INFO', service: 'ledgersweep', policyId: 'accounts', runId: 'r', tenant: 'a\n{}' };
    expect(kept.map((line) => JSON.parse(line))).toEqual(
      [...TERMINAL_EVENTS].map((message) => ({ ...common, message })),
    );
    expect(kept.filter((line) => line.includes('\n'))).toEqual([]);
  });

  it('keeps terminal events also where the routine log is silent', () => {
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'SILENT');
    const kept: string[] = [];
    createLog({}, { add: (line) => void kept.push(line) }).event('info', 'audit', { number: 1 });
    expect(kept).toHaveLength(1);
  });

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
