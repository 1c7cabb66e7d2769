/** A regular expression (unanchored) that matches exactly the whole numbers from `min` to `max`, as one writes them. */
export function integerPattern(min: number, max: number): string {
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || max < min) {
    throw new Error(`No pattern for ${min} to ${max}`);
  }
  let start = min;
  const alternatives = blockEnds(min, max).map((end) => {
    const alternative = block(String(start), String(end));
    start = end + 1;
    return alternative;
  });
  return `(?:${alternatives.join('|')})`;
}

/** Ends of the runs of numbers in which each digit varies on its own: 1..36 ends at 9, 29, 36. */
function blockEnds(min: number, max: number): number[] {
  const ends = new Set([max]);
  for (let size = 10; ; size *= 10) {
    const end = min - (min % size) + size - 1;
    if (end >= max) break;
    ends.add(end);
  }
  for (let size = 10; ; size *= 10) {
    const end = max + 1 - ((max + 1) % size) - 1;
    if (end <= min) break;
    ends.add(end);
  }
  return [...ends].sort((a, b) => a - b);
}

function block(start: string, end: string): string {
  const fixed = [...end].findIndex((digit, at) => digit !== start[at]);
  if (fixed < 0) return end;
  const free = end.length - fixed - 1;
  const varying = `[${start[fixed]}-${end[fixed]}]`;
  return `${end.slice(0, fixed)}${varying}${free > 0 ? `[0-9]{${free}}` : ''}`;
}
