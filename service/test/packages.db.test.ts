import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../scripts/needs/free-port.ts'
import { useDatabase } from './harness/database.ts'
import { onOneDatabase } from './harness/once.ts'
import { ServedApp } from './harness/served-app.ts'

const ROOT = join(import.meta.dirname, '../..')
const INSTALLED_IN_MS = 240_000
const RUN_IN_MS = 120_000
const [NUMBER, CALLEE] = ['+12025550140', '+12025550177']
const [SECRET, NEXT] = [`whsec_${Buffer.alloc(32, 9).toString('base64')}`, 'the-secret-that-comes-next']

/** Somebody's program: it calls by the client, and hears of it by a webhook. */
const PROGRAM = `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createParley, verifyWebhook, WebhookError } from '@parley/client'
const [baseUrl, apiKey, port, to, ...secrets] = process.argv.slice(2)
const parley = createParley({ baseUrl, apiKey })
const heard = Promise.withResolvers ? Promise.withResolvers() : (() => {
  const it = {}
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }))
  return it
})()
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const { event, sequence } = verifyWebhook(request.headers, body, secrets)
  let refused = null
  try {
    verifyWebhook(request.headers, body, 'another-secret-of-nobody')
  } catch (error) {
    refused = error instanceof WebhookError ? error.reason : String(error)
  }
  response.writeHead(204).end()
  heard.resolve({ event: event.event, sequence, refused })
}).listen(Number(port), '127.0.0.1')
await once(server, 'listening')
const placed = await parley.POST('/api/v1/make-call', { body: { to, agent_key: 'desk' } })
const listed = await parley.GET('/api/v1/call-logs', { params: { query: { direction: 'outbound', limit: 5 } } })
const missing = await parley.GET('/api/v1/call-logs/{call_sid}', { params: { path: { call_sid: 'CA0' } } })
const webhook = await heard.promise
const imported = await parley.POST('/api/v1/dnc/import', { body: 'phone,reason\\n+12025550123,asked\\n' })
const exported = await parley.GET('/api/v1/dnc/export')
const firstEvent = async () => {
  for (;;) {
    const { data } = await parley.GET('/api/v1/sessions/active')
    for (const { stream_sid } of data.sessions) for await (const { event } of parley.watchSession(stream_sid)) return event
  }
}
console.log(JSON.stringify({
  node: process.versions.node,
  placed: placed.data, listed: listed.data.call_logs.map(({ call_sid }) => call_sid), missing: missing.error.code, webhook,
  imported: imported.data.imported, exported: exported.data, watched: await firstEvent(),
}))
server.close()
`

/** Somebody's test of a bridge: what it runs, and what it is told of a file that is none. */
const REHEARSAL = `
import { startSimulator } from '@parley/simulator'
import { parseScenario, readScenario, reportText, runScenario, ScenarioError } from '@parley/simulator/scenario'
const place = { host: '127.0.0.1', port: 0 }
const simulator = await startSimulator({ carrier: { ...place, accountSid: 'AC1', authToken: 't' }, model: place })
const { name } = await readScenario('node_modules/@parley/simulator/scenarios/booking.yaml')
const scenario = parseScenario('{ name: Outbound, caller: {}, call: { direction: outbound, max_seconds: 1 } }', 'inline')
const report = await runScenario(simulator, scenario, { voiceUrl: 'http://127.0.0.1:1/' })
await simulator.close()
const refused = await readScenario('nowhere.yaml').catch((error) => error instanceof ScenarioError)
console.log(JSON.stringify({ name, report: reportText(report), refused }))
`

/** What the examples take for granted. */
const GIVEN: Record<string, string> = {
  client: `
    declare const parley: import('@parley/client').Parley
    declare const [orderId, voiceSessionId, streamSid]: string[]
    declare const signal: AbortSignal
    declare const [SECRET, PREVIOUS_SECRET]: [string, string]
    declare const queue: { add(id: string, event: import('@parley/client').WebhookEvent): void }
    declare const express: { raw(options: object): unknown }
    type Posted = { headers: import('node:http').IncomingHttpHeaders; body: Buffer }
    declare const app: {
      post(path: string, parse: unknown, take: (request: Posted, response: { sendStatus(status: number): void }) => void): void
    }`,
  simulator: 'declare const [accountSid, authToken, voiceUrl]: [string, string, string]',
}

/** A receiver in the CommonJS that many servers are written in, which reads what an event holds. */
const RECEIVER = `
import { verifyWebhook, type WebhookEvent } from '@parley/client'
export function take(headers: Record<string, string>, body: string): number {
  const { event } = verifyWebhook(headers, body, 'a-secret')
  if (event.event === 'voice.call.completed') return event.payload.duration_seconds
  if (event.event === 'callback.task.created') return event.payload.task.summary?.length ?? 0
  // @ts-expect-error: what there is of it the name of the event has to tell.
  return event.payload.duration_seconds
}
export type Name = WebhookEvent['event']
`

/** Requests with a slip of the pen, and such as have to go on. */
const CALLER = `
import type { Parley } from '@parley/client'
export async function call(parley: Parley): Promise<number> {
  // @ts-expect-error: there is no such member of a body …
  await parley.POST('/api/v1/callback-tasks', { body: { customer_phone: '+12025550123', prioritty: 'high' } })
  // @ts-expect-error: … nor further inside …
  await parley.POST('/api/v1/campaigns', { body: { name: 'n', agent_key: 'a', contacts: [{ phone: 'p', meta: {} }] } })
  // @ts-expect-error: … nor such a header …
  await parley.POST('/api/v1/make-call', { params: { header: { 'Idempotency-Kei': 'k' } }, body: { to: '+12025550123' } })
  // @ts-expect-error: … nor such a parameter,
  await parley.GET('/api/v1/call-logs', { params: { query: { limt: 5 } } })
  // @ts-expect-error: and this one needs a body.
  await parley.POST('/api/v1/make-call')
  const id = { params: { path: { id: 'i' } }, signal: AbortSignal.timeout(1) }
  await parley.POST('/api/v1/callback-tasks/{id}/release', id)
  const { data } = await parley.GET('/api/v1/dnc/export', { parseAs: 'stream' })
  await data?.cancel()
  const queues = await parley.GET('/api/v1/operator-queues')
  return queues.error ? queues.error.code.length : queues.data.count
}
`

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** The Node that people have, and not the one that runs these tests. */
function hostsNode(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const found = folders.map((folder) => join(folder, 'node')).find((path) => majorOf(path) >= 20)
  if (found === undefined) throw new Error('there is no Node 20 or newer on the PATH beside our own')
  return found
}

function majorOf(path: string): number {
  try {
    return Number.parseInt(execFileSync(path, ['--version'], { encoding: 'utf8', stdio: 'pipe' }).slice(1), 10)
  } catch {
    return 0
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)))
    createInterface({ input: child.stdout as Readable }).once('line', resolve)
  })
}

/** Whether people have the types of pages on, as theirs are by default, or those of Node alone. */
const LIBS = { es2022: ['es2022'], 'es2022 and dom': ['es2022', 'dom'] }
type Lib = keyof typeof LIBS

/** Ours, and the one before it, to which the streams of pages and of Node are not the same. */
const COMPILERS = ['node_modules/typescript/bin/tsc', 'client/node_modules/typescript/bin/tsc']

/** Type-checks the examples of a package's README against what is installed; returns what each compiler says. */
async function compiled(folder: string, workspace: string, lib: Lib): Promise<string[]> {
  const into = join(folder, `examples-of-${workspace}-with-${lib.replaceAll(' ', '-')}`)
  await mkdir(into)
  const readme = await readFile(join(folder, 'node_modules/@parley', workspace, 'README.md'), 'utf8')
  const examples = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
  expect(examples).not.toEqual([])
  await writeFile(join(into, 'given.d.ts'), GIVEN[workspace] ?? '')
  for (const [at, code] of examples.entries()) await writeFile(join(into, `example-${at}.ts`), `${code}\nexport {}\n`)
  return compiledIn(into, { lib: LIBS[lib], module: 'nodenext' })
}

/** What each compiler says of the files in a folder. */
async function compiledIn(into: string, options: { lib: string[]; module: string }): Promise<string[]> {
  const compilerOptions = {
    ...{ target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, ...options },
    ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  }
  await writeFile(join(into, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return COMPILERS.map((compiler) => {
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, compiler), '-p', into], { encoding: 'utf8' })
    return `${status}: ${stdout}`
  })
}

describe.runIf(onOneDatabase())('the packages', () => {
  const test = useDatabase()
  const node = hostsNode()
  let folder: string

  const start = (...args: string[]) => {
    const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    return child
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'packages-'))
    execFileSync(process.execPath, [join(ROOT, 'scripts/pack.ts'), folder], { stdio: 'pipe' })
    await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}')
    await writeFile(join(folder, 'program.js'), PROGRAM)
    await writeFile(join(folder, 'rehearsal.js'), REHEARSAL)
    const tarballs = ['./parley-client-0.1.0.tgz', './parley-simulator-0.1.0.tgz']
    const quietly = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', ...quietly, ...tarballs], { cwd: folder, stdio: 'pipe' })
  }, INSTALLED_IN_MS)

  it('are installed from their tarballs and run by the Node of the host', { timeout: RUN_IN_MS }, async () => {
    const bin = 'node_modules/.bin/parley-simulator'
    const ports = ['--carrier-port', '0', '--model-port', '0']
    const simulator = start(bin, 'serve', '--json', ...ports, '--party', `${CALLEE}=Hello, who is there?`)
    const { carrier, model } = JSON.parse(await firstLine(simulator)) as Record<string, Record<string, string>>
    const hook = await freePort()
    const served = await ServedApp.start(test, {
      settings: {
        ...{ OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true', OPENAI_API_KEY: 'sk-key-of-the-packages' },
        ...{ TELEPHONY_API_BASE_URL: carrier?.['base_url'] ?? '', OPENAI_REALTIME_URL: model?.['url'] ?? '' },
      },
    })
    const account = { account_sid: carrier?.['account_sid'], auth_token: carrier?.['auth_token'] }
    const events = ['voice.call.started']
    const webhook = { url: `http://127.0.0.1:${hook}/`, secret: NEXT, secret_previous: SECRET, events }
    const document = { telephony: { ...account, from_number: NUMBER }, webhook }
    await served.furnish('acme', { number: NUMBER, document })

    const program = start(
      'program.js',
      served.address,
      served.tokenOf('acme'),
      String(hook),
      CALLEE,
      SECRET,
      'unused-one',
    )
    const told = JSON.parse(await firstLine(program)) as { node: string; placed: { call_sid: string } }
    expect(told).toMatchObject({
      placed: { ok: true, to: CALLEE, from: NUMBER },
      listed: [told.placed.call_sid],
      missing: 'not_found',
      webhook: { event: 'voice.call.started', sequence: 1, refused: 'bad_signature' },
      ...{ imported: 1, exported: expect.stringContaining('+12025550123,asked'), watched: 'state' },
    })
    expect(told.node.split('.')[0]).toBe(String(majorOf(node)))
    await served.app.close()
  })

  it('rehearse a bridge with scenarios of their own and of files', { timeout: RUN_IN_MS }, async () => {
    const told = JSON.parse(await firstLine(start('rehearsal.js'))) as Record<string, unknown>
    const report = expect.stringContaining('nobody called +15550100199 within 1 seconds')
    expect(told).toEqual({ name: expect.any(String), report, refused: true })
  })

  it.each(Object.keys(GIVEN).flatMap((workspace) => Object.keys(LIBS).map((lib) => [workspace, lib as Lib] as const)))(
    'have examples that compile: those of the %s with %s',
    { timeout: RUN_IN_MS },
    async (workspace, lib) => {
      expect(await compiled(folder, workspace, lib)).toEqual(COMPILERS.map(() => '0: '))
    },
  )

  it(
    'have a client whose types CommonJS finds, and by which the name of an event tells what it holds',
    async () => {
      const into = join(folder, 'commonjs')
      await mkdir(into)
      await writeFile(join(into, 'package.json'), '{"private": true}')
      await writeFile(join(into, 'receiver.ts'), RECEIVER)
      expect(await compiledIn(into, { lib: ['es2022'], module: 'commonjs' })).toEqual(COMPILERS.map(() => '0: '))
    },
    RUN_IN_MS,
  )

  it(
    'have a client by which the compiler tells of what the API does not take',
    async () => {
      const into = join(folder, 'caller')
      await mkdir(into)
      await writeFile(join(into, 'caller.ts'), CALLER)
      expect(await compiledIn(into, { lib: ['es2022'], module: 'nodenext' })).toEqual(COMPILERS.map(() => '0: '))
    },
    RUN_IN_MS,
  )
})
