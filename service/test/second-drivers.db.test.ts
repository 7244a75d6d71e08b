import { createHmac } from 'node:crypto'
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { WebSocket } from 'ws'
import { type CarrierRest, startCarrierRest } from './harness/carrier-rest.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { scratchFolder } from './harness/scratch.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const SERVICE = fileURLToPath(new URL('../', import.meta.url))
const ADMIN_API_KEY = 'ak_key_of_the_second_driver_tests'
const TOKEN = 'token-of-the-parrot'
const NUMBER = '+12025550140'

/** A copy of the service that knows one carrier and one model more: a folder and a line each, and nothing else. */
async function serviceWithParrots(folder: string): Promise<string> {
  await cp(join(SERVICE, 'src'), join(folder, 'service/src'), { recursive: true })
  await cp(join(SERVICE, 'migrations'), join(folder, 'service/migrations'), { recursive: true })
  await cp(join(SERVICE, 'package.json'), join(folder, 'service/package.json'))
  await symlink(join(SERVICE, '../node_modules'), join(folder, 'node_modules'))
  await addDriver(join(folder, 'service/src/platform/telephony'), 'carrier.ts', '  twilio: twilioDriver,\n')
  await addDriver(join(folder, 'service/src/platform/realtime'), 'model.ts', 'REALTIME_DRIVERS = {\n')
  return join(folder, 'service/src/main.ts')
}

async function addDriver(folder: string, fixture: string, behind: string): Promise<void> {
  const code = await readFile(join(SERVICE, 'test/second-drivers', fixture), 'utf8')
  const driver = join(folder, 'parrot/driver.ts')
  await mkdir(dirname(driver))
  await writeFile(driver, code.replaceAll("'../../src/", "'../../../"))
  const registry = join(folder, 'registry.ts')
  const lines = await readFile(registry, 'utf8')
  expect(lines).toContain(behind)
  const withLine = lines.replace(behind, `${behind}  parrot: parrotDriver,\n`)
  await writeFile(registry, `import { parrotDriver } from './parrot/driver.ts'\n${withLine}`)
}

describe('a second carrier and a second model', () => {
  let copy: Copy
  let rest: CarrierRest
  let folder: string
  let main: string
  let address = ''

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    rest = await startCarrierRest()
    folder = await scratchFolder()
    main = await serviceWithParrots(folder)
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await rest.close()
    await rm(folder, { recursive: true })
    await copy.remove()
  })

  async function administer<Body>(method: string, path: string, body: object): Promise<Body> {
    const response = await fetch(`${address}/api/v1/admin/tenants/acme${path}`, {
      method,
      headers: { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.status).toBe(200)
    return (await response.json()) as Body
  }

  async function furnish(): Promise<void> {
    const telephony = { provider: 'parrot', account_sid: 'P1', auth_token: TOKEN }
    await administer('PUT', '', { tenant_id: 'acme', auth_token: 'bearer-of-the-parrot-tests', telephony })
    const { agent } = await administer<{ agent: { id: string } }>('POST', '/agents', {
      ...{ agent_key: 'polly', name: 'Polly', description: '' },
    })
    const draft = { agent_id: agent.id, config: { agent_name: 'Polly' } }
    const { version } = await administer<{ version: { id: string } }>('POST', '/agent-versions', draft)
    await administer('POST', `/agent-versions/${version.id}/publish`, {})
    await administer('POST', '/phone-routes', { phone_number: NUMBER, agent_key: 'polly' })
  }

  async function ring(): Promise<{ perch: string }[]> {
    const url = `${address.replace('127.0.0.1', 'localhost')}/api/v1/incoming-call`
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-parrot': createHmac('sha256', TOKEN).update(url).digest('hex') },
      body: new URLSearchParams({ CallSid: 'CALL1', From: '+12025550123', To: NUMBER }),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    return (await response.json()) as { perch: string }[]
  }

  it('are a folder and a line each', { timeout: 180_000 }, async () => {
    const settings = {
      ADMIN_API_KEY,
      REALTIME_PROVIDER: 'parrot',
      OPENAI_API_KEY: 'key',
      TELEPHONY_API_BASE_URL: rest.baseUrl,
    }
    const program = startProgram({ ...copy.settings, ...settings }, [], main)
    address = await program.listening()
    await furnish()

    const [connect] = await ring()
    const socket = new WebSocket(connect?.perch ?? '')
    const heard: Record<string, unknown>[] = []
    socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as Record<string, unknown>))
    await until(() => socket.readyState === WebSocket.OPEN, { what: 'the stream' })
    socket.send(JSON.stringify({ perch: 'PERCH1', call: 'CALL1' }))
    await until(() => heard.some(({ to, squawk }) => to === 'PERCH1' && squawk), { what: 'the greeting' })
    for (const { until: name } of heard) if (name) socket.send(JSON.stringify({ heard: name }))

    const headers = { authorization: 'Bearer bearer-of-the-parrot-tests', 'content-type': 'application/json' }
    const action = { method: 'POST', headers, body: JSON.stringify({ action: 'end_call' }) }
    expect((await fetch(`${address}/api/v1/sessions/PERCH1/actions`, action)).status).toBe(200)
    await until(() => rest.requests.some(({ path }) => path === '/quiet/P1/CALL1'), { what: 'the call to be ended' })
    const log = await until(
      async () => {
        const response = await fetch(`${address}/api/v1/call-logs/CALL1`, { headers })
        const { call_log } = (await response.json()) as { call_log: Record<string, unknown> }
        return call_log['status'] === 'completed' ? call_log : null
      },
      { what: 'the end to be written down' },
    )
    expect(log).toMatchObject({ agent_name: 'Polly', stream_sid: 'PERCH1' })
    expect(await program.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(program.stderr()).toBe('')
  })
})
