import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../simulator/src/cli/serve.ts'
import type { Simulator } from '../../simulator/src/simulator.ts'
import { useDatabase } from './harness/database.ts'
import { ACCOUNT, ServedApp } from './harness/served-app.ts'
import { writtenBy } from './harness/written.ts'

const ADMIN_API_KEY = 'ak_key_of_the_getting_started_tests'
const COMMANDS_MS = 90_000

const test = useDatabase()
let simulator: Simulator
let served: ServedApp

/** The service as `npm start` sets it up, with the simulator in the place of every provider. */
beforeAll(async () => {
  const carrier = { host: '127.0.0.1', port: 0, accountSid: ACCOUNT.sid, authToken: ACCOUNT.token }
  const model = { host: '127.0.0.1', port: 0 }
  simulator = await serve({ command: 'serve', simulator: { carrier, model }, parties: [], json: true }, () => {})
  const settings = {
    ADMIN_API_KEY,
    TELEPHONY_ACCOUNT_SID: ACCOUNT.sid,
    TELEPHONY_AUTH_TOKEN: ACCOUNT.token,
    TELEPHONY_API_BASE_URL: simulator.carrier.baseUrl,
    OPENAI_REALTIME_URL: simulator.model.url,
    OPENAI_API_KEY: 'any',
  }
  served = await ServedApp.start(test, { settings })
})
afterAll(async () => {
  await served.app.close()
  await simulator.close()
})

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }

/** The commands of a page, in their order. */
function commandsIn(html: string): string[] {
  const blocks = [...html.matchAll(/<code class="language-sh">([\s\S]*?)<\/code>/g)]
  return blocks.map(([, text = '']) => text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? ''))
}

/** Runs them in one shell, which stops at the first that fails. */
async function run(commands: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn('sh', ['-eu'], {
    cwd: served.dataDir,
    timeout: COMMANDS_MS,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const written = writtenBy(child)
  child.stdin.end(commands.join('\n'))
  const [code] = (await once(child, 'close')) as unknown[]
  return { code, ...written }
}

describe('the quickstart', () => {
  it('is true to the letter: its commands make an agent, place a call, show what was said, and end it', async () => {
    await writeFile(join(served.dataDir, '.env'), `PORT=8080\nADMIN_API_KEY=${ADMIN_API_KEY}\n`)
    const page = await (await fetch(`${served.address}/getting-started`)).text()
    const commands = commandsIn(page)
    expect(commands.length).toBeGreaterThan(6)
    const { code, stdout, stderr } = await run(commands)
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('"status":"in-progress"')
    expect(stdout).toContain('Hello, this is Robin of Acme. How can I help you?')
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown
    expect(last).toMatchObject({ call_log: { status: 'completed', from: '+12025550140', to: '+12025550123' } })
  }, 120_000)
})
