import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isCrowded } from './harness/crowded.ts'
import { KEEPS_NOTHING_COMPILED, killPrograms, startProgram } from './harness/program.ts'
import { rehearsedCall } from './harness/rehearsed-call.ts'
import { scratchFolder } from './harness/scratch.ts'
import { until } from './harness/wait.ts'

const ADMIN_API_KEY = 'ak_key_of_the_rehearsal_tests'
const STOP_MS = 3_000
const WAIT_MS = 45_000
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let settings: Record<string, string>
beforeEach(async () => {
  folder = await scratchFolder()
  settings = { DATA_DIR: folder, ADMIN_API_KEY, SIMULATOR: 'on' }
})
afterEach(async () => {
  await killPrograms()
  await rm(folder, { recursive: true })
})

const call = (args: string[], typed = '') => rehearsedCall(settings, args, typed)

/** Where the simulated carrier is, as the service announces it. */
async function carrierAddress(): Promise<string> {
  const announced = JSON.parse(await readFile(join(folder, 'rehearsal.json'), 'utf8')) as {
    carrier: { base_url: string }
  }
  return announced.carrier.base_url
}

function answers(address: string): Promise<boolean> {
  return fetch(address).then(
    () => true,
    () => false,
  )
}

describe('the service with SIMULATOR=on', () => {
  it('can be rung from this machine at once, shows the conversation, says what can be rung, and stops with its simulator in time', async () => {
    const program = startProgram({ ...settings, ...KEEPS_NOTHING_COMPILED }, ['--welcome'])
    await program.listening()
    const carrier = await carrierAddress()

    const said = await call([], 'What do you sell?\n\n')
    expect(said, program.stdout()).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout).toMatch(/Robin +Hello, this is Robin at the Demo Company\. .* This is a rehearsal/)
    expect(said.stdout).toMatch(/caller +What do you sell\?\n.*Robin +You said: What do you sell/)
    expect(said.stdout).toMatch(/the session has ended: caller hangup\n/)
    expect(said.stdout).toMatch(/Stored\n.*inbound from \+12025550147 to \+12025550100, completed/)

    const wrong = await call(['--to', '+12025550199', '--say', 'Hello?'])
    expect(wrong).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: expect.stringMatching(
        /^No agent of the tenant demo answers \+12025550199: its numbers are \+12025550100\. /,
      ),
    })

    const ending = await program.end('SIGTERM')
    expect(ending).toMatchObject({ code: 0, signal: null })
    expect(ending.afterMs < STOP_MS || isCrowded(), `${ending.afterMs} ms`).toBe(true)
    expect(program.stderr()).toBe('')
    expect(program.stdout()).toContain('this is a rehearsal')
    expect(program.stdout()).toContain('npm run call -- --to +12025550100')
    expect(await answers(carrier)).toBe(false)
    await expect(carrierAddress()).rejects.toThrow('ENOENT')
  })

  it('leaves no simulator behind when it is killed', async () => {
    // Without a database to make first: that is most of its start, and has no part in this.
    const program = startProgram({ ...settings, DATABASE_URL: 'none' })
    await program.listening()
    const carrier = await carrierAddress()
    expect(await answers(carrier)).toBe(true)
    await program.end('SIGKILL')
    await until(async () => !(await answers(carrier)), { timeoutMs: WAIT_MS, what: 'the simulator to be gone' })
    const late = await call(['--say', 'Hello?'])
    expect(late).toMatchObject({ code: 1, stderr: expect.stringMatching(/^The call failed: .* is it running\?\n$/) })
  })

  it('takes an unsigned call of a tenant without a token, as it says, and checks one that is signed', async () => {
    const program = startProgram({ ...settings, DATABASE_URL: 'none' })
    const address = await program.listening()
    const document = { tenant_id: 'acme', telephony: { from_number: '+12025550140' }, agent: { agent_name: 'Robin' } }
    const headers = { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' }
    const tenant = `${address}/api/v1/admin/tenants/acme`
    expect((await fetch(tenant, { method: 'PUT', headers, body: JSON.stringify(document) })).status).toBe(200)
    const ring = (signed: Record<string, string>) => {
      const body = new URLSearchParams({ CallSid: 'CA1', From: '+12025550123', To: '+12025550140' })
      return fetch(`${address}/api/v1/incoming-call`, { method: 'POST', headers: signed, body })
    }
    const taken = await ring({})
    expect([taken.status, await taken.text()]).toEqual([200, expect.stringContaining('<Connect>')])
    expect((await ring({ 'x-provider-signature': 'made up' })).status).toBe(401)
  })
})

describe('npm run call', () => {
  it('says how to start a rehearsal when there is none', async () => {
    const { code, stderr } = await call([])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`DATA_DIR=${folder}. Start one with \`npm start\``)])
  })

  it.each([
    [['--to', '12345'], '12345 is no phone number'],
    [['+12025550100'], '+12025550100 is not understood'],
    [['--number', '1'], '--number'],
  ])('refuses %j in a sentence', async (args, sentence) => {
    await writeFile(join(folder, 'rehearsal.json'), '{}')
    const { code, stderr } = await call(args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })
})
