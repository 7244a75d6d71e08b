import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { childEnvironment } from './child-environment.ts'

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'scripts', 'replay.ts')

/** What `npm run replay` says of a session whose log lies in a DATA_DIR, and its exit code. */
export async function replayed(dataDir: string, ...args: string[]): Promise<{ code: unknown; said: string }> {
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    env: { ...childEnvironment(), DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = await once(child, 'close')
  return { code, said }
}
