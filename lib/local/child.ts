import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/**
 * Starts a command in a process group of its own that never outlives this process: however this one exits, the group
 * is killed with everything the command started. The caller sees to it that this process exits on signals.
 */
export function spawnOwned(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  const end = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  // Before whoever cleans up after the command.
  process.prependOnceListener('exit', end);
  child.once('close', () => process.off('exit', end));
  return child;
}
