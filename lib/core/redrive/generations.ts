/** True where a unit of this generation may have one more; `redriveGenerations` counts the first publish too. */
export function mayHaveNext(generation: number, redriveGenerations: number): boolean {
  return generation + 1 < redriveGenerations;
}
