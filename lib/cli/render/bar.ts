const WIDTH = 30;

/** How far something is, on one line: `[##########----] 400 of 900 units`. */
export function bar(done: number, all: number, what: string): string {
  const full = all === 0 ? WIDTH : Math.floor((Math.min(done, all) / all) * WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${done} of ${all} ${what}`;
}
