import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { childEnvironment } from './child-environment.ts'
import { type Written, writtenBy } from './written.ts'

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'scripts', 'call.ts')

/** How `npm run call` ended, and what it wrote. */
export type RehearsedCall = { code: unknown } & Written

/** Runs `npm run call` with these arguments, and lines from a pipe, beside a service of the same settings. */
export async function rehearsedCall(
  settings: Record<string, string>,
  args: string[],
  typed = '',
): Promise<RehearsedCall> {
  const env = { ...childEnvironment(), ...settings }
  const child = spawn(process.execPath, [SCRIPT, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const written = writtenBy(child)
  child.stdin.end(typed)
  const [code] = (await once(child, 'close')) as unknown[]
  return { code, ...written }
}
