import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { makeRandom } from '../../../simulator/src/carrier/random.ts'
import { sign } from '../harness/carrier-signature.ts'
import { ACCOUNT } from '../harness/served-app.ts'
import { until } from '../harness/wait.ts'
import { connectTo, type TestServer } from '../kill/test-database.ts'
import { type Findings, findings, unalerted } from './checks.ts'
import { startVirtualNode, type VirtualNode } from './nodes.ts'
import type { SimOptions } from './options.ts'
import { actOnce, asAdmin, ask, createTask, type Keys, type Ledger, type Scene } from './people.ts'
import { startWorld, type TakenCall, type World } from './world.ts'

/** The week in which Europe sets its clocks forward: on Sunday the 31st. */
const STARTS_MS = Date.UTC(2030, 2, 28)
const STEP_MS = 300_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer than the last attempt to deliver comes after the first. */
const SETTLE_DAYS = 2
/** Somebody looks in vain for what a dead node has leased until that is over, by the database's own clock. */
const LEASES_OVER_MS = 120_000
/** Sweeps fail now and then, and the next one is five minutes later. */
const ALERTED_WITHIN_MS = HOUR_MS

/** While something is waited for, this much passes outside, and `HASTE` times as much inside. */
const BEAT_MS = 4
const HASTE = 50
const KILLS_PER_DAY = 2
/** Within that time of the beginning of a sweep. */
const KILL_MS_SPAN = 60

const TENANTS = ['acme', 'beta', 'gamma'] as const
const SWEEPS = ['sweep?', 'dispatch?limit=20&', 'follow-up-notifications/sweep?', 'external-reconciliation/sweep?'].map(
  (path) => `${path}emit_webhooks=true`,
)

type Chance = () => number
type Run = {
  options: SimOptions
  chance: Chance
  world: World
  database: pg.Client
  keys: Keys
  ledger: Ledger
  nodes: [VirtualNode, VirtualNode]
  start(): Promise<VirtualNode>
  nowMs: number
  kills: number
  faults: string[]
  print(line: string): void
}

/** Lives through the week, and looks at what is left of it. */
export async function runWeek(
  server: TestServer,
  options: SimOptions,
  print: (line: string) => void,
): Promise<Findings> {
  const run = await begin(server, options, print)
  try {
    const endMs = STARTS_MS + options.days * DAY_MS
    for (let atMs = STARTS_MS; atMs < endMs; atMs += STEP_MS) await step(run, { atMs, isBusy: true })
    run.world.calm()
    const quietMs = endMs + SETTLE_DAYS * DAY_MS
    for (let atMs = endMs; atMs < quietMs; atMs += STEP_MS) await step(run, { atMs, isBusy: false })
    await settle(run, quietMs)
    const found = await findings(run.database, run.world, run.ledger)
    const listed = await listedAsFailed(run)
    if (listed !== found.figures['failed'])
      run.faults.push(`${found.figures['failed']} events failed, ${listed} are listed`)
    return { faults: [...run.faults, ...found.faults], figures: { ...found.figures, kills: run.kills } }
  } finally {
    for (const node of run.nodes) await node.kill()
    await run.database.end()
    await run.world.close()
  }
}

async function begin(server: TestServer, options: SimOptions, print: (line: string) => void): Promise<Run> {
  const chance = makeRandom(options.seed)
  const databaseUrl = await server.makeDatabase()
  const time = { nowMs: STARTS_MS }
  const world = await startWorld(chance, () => time.nowMs)
  const keys: Keys = { admin: randomBytes(16).toString('hex'), tokens: new Map() }
  const settings = {
    ADMIN_API_KEY: keys.admin,
    OUTBOUND_ALLOW_PRIVATE_NETWORKS: 'true',
    TELEPHONY_API_BASE_URL: world.carrierUrl,
  }
  const start = () =>
    startVirtualNode({ databaseUrl, settings, nowMs: time.nowMs }, (pid) => server.folder.ownProcess(pid))
  const nodes: Run['nodes'] = [await start(), await start()]
  const ledger: Ledger = { created: new Map(), createdUnheard: 0, acts: new Map(), oddities: [] }
  const parts = { options, chance, world, keys, ledger, nodes, start, print, kills: 0, faults: [] }
  const run: Run = Object.assign(time, { ...parts, database: await connectTo(databaseUrl) })
  for (const [index, tenant] of TENANTS.entries()) await furnish(run, tenant, index)
  return run
}

/** A tenant with an agent that may call at any hour, queues, and a webhook. */
async function furnish(run: Run, tenant: string, index: number): Promise<void> {
  const { keys, nodes, world } = run
  const admin = async <Body>(method: string, path: string, body: object): Promise<Body> => {
    const answer = await ask(nodes[0], asAdmin(keys), { method, path: `/admin${path}`, body })
    if (answer?.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.body as Body
  }
  const at = `/tenants/${tenant}`
  await admin('PUT', at, {
    tenant_id: tenant,
    telephony: { account_sid: ACCOUNT.sid, auth_token: ACCOUNT.token },
    webhook: { url: world.webhookUrl(tenant), secret: `whsec_${Buffer.alloc(24, index + 1).toString('base64')}` },
    compliance: { calling_hours: { start: '00:00', end: '24:00' } },
    ticketing: { driver: 'generic', base_url: world.ticketUrl, token: 'token-of-the-tickets' },
  })
  const { created } = await admin<{ created: { token: string } }>('POST', `${at}/api-keys`, { label: 'week' })
  keys.tokens.set(tenant, created.token)
  const { agent } = await admin<{ agent: { id: string } }>('POST', `${at}/agents`, { agent_key: 'desk', name: 'Desk' })
  const { version } = await admin<{ version: { id: string } }>('POST', `${at}/agent-versions`, {
    ...{ agent_id: agent.id, config: {} },
  })
  await admin('POST', `${at}/agent-versions/${version.id}/publish`, {})
  const phone_number = `+1202555014${index}`
  await admin('POST', `${at}/phone-routes`, { phone_number, agent_key: 'desk', outbound_default: true })
  const sales = { sla_minutes: 60, retry_minutes: 90, reminder_minutes: 30, escalate_after_minutes: 120 }
  await admin('PUT', `${at}/operator-queues/sales`, { ...sales, auto_dispatch: tenant !== 'beta' })
  const hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], start: '02:00', end: '18:00' }]
  const office = { timezone: 'Europe/Berlin', business_hours: hours, auto_dispatch: true }
  await admin('PUT', `${at}/operator-queues/office`, { ...sales, ...office })
}

type Step = { atMs: number; isBusy: boolean }

/** Five minutes: time passes on both nodes, people act, both nodes sweep at once, and now and then one is killed. */
async function step(run: Run, { atMs, isBusy }: Step): Promise<void> {
  run.nowMs = Math.max(run.nowMs, atMs)
  await moveAll(run)
  const isKilled = isBusy && run.chance() < KILLS_PER_DAY * (STEP_MS / DAY_MS)
  const work = Promise.all([isBusy ? act(run) : null, tellCalls(run), sweepBoth(run), isKilled ? killOne(run) : null])
  await whileTimePasses(run, work)
  if (atMs % HOUR_MS === 0) await lookForUnalerted(run)
  if (atMs % DAY_MS === 0) {
    run.print(`… ${new Date(atMs).toISOString()}, ${run.ledger.created.size} tasks, ${run.kills} kills`)
  }
}

async function moveAll({ nodes, nowMs }: Run): Promise<void> {
  // One that was just killed is late: it is started with the time that it is then.
  await Promise.all(nodes.map((node) => node.moveTo(nowMs).catch(() => undefined)))
}

/** Who waits for an answer, or between two attempts, waits in the time of the service. */
async function whileTimePasses(run: Run, work: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  for (;;) {
    const beat = { what: 'the end of the work', timeoutMs: BEAT_MS, everyMs: 1 }
    await until(() => isDone, beat).catch(() => undefined)
    if (isDone) return void (await done)
    run.nowMs += BEAT_MS * HASTE
    await moveAll(run)
  }
}

async function act(run: Run): Promise<void> {
  const { chance, options, ledger } = run
  const share = options.tasks / (options.days * (DAY_MS / STEP_MS))
  const left = options.tasks - ledger.created.size - ledger.createdUnheard
  if (left > 0 && chance() < share * 1.1) await createTask(scene(run), someTenant(chance), newTask(run))
  if (chance() < 0.3) await actOnce(scene(run), someTenant(chance))
  moveTickets(run)
}

async function sweepBoth(run: Run): Promise<void> {
  const [one, other] = await Promise.all(run.nodes.map((node) => sweepAll(run, node)))
  const both = new Set(one).intersection(new Set(other))
  for (const item of both) run.faults.push(`both nodes did this at once: ${item}`)
}

function scene({ keys, ledger, chance, nodes, nowMs }: Run): Scene {
  return { keys, ledger, chance, nowMs, node: nodes[Math.floor(chance() * 2)] ?? nodes[0] }
}

function someTenant(chance: Chance): string {
  return TENANTS[Math.floor(chance() * TENANTS.length)] ?? TENANTS[0]
}

function newTask({ chance, world, ledger, nowMs }: Run): object {
  const number = ledger.created.size + ledger.createdUnheard
  const ticket = `T-${number}`
  const hasTicket = chance() < 0.3
  if (hasTicket) world.tickets.set(ticket, 'open')
  return {
    customer_phone: `+1202555${String(1_000 + number).padStart(4, '0')}`,
    queue_key: chance() < 0.6 ? 'sales' : 'office',
    priority: (['low', 'normal', 'high', 'urgent'] as const)[Math.floor(chance() * 4)],
    summary: `Task ${number}`,
    ...(chance() < 0.5 && { due_at: new Date(nowMs + chance() * 6 * HOUR_MS).toISOString() }),
    metadata: hasTicket ? { external_ticket: { id: ticket } } : {},
  }
}

/** Tickets are closed and opened again by people elsewhere, and some are deleted. */
function moveTickets({ world, chance }: Run): void {
  for (const [id, status] of world.tickets) {
    if (chance() > 0.004) continue
    if (chance() < 0.05) world.tickets.delete(id)
    else world.tickets.set(id, status === 'open' ? 'closed' : 'open')
  }
}

/** Calls come to their ends; of some the carrier tells nobody, and somebody has to ask. */
async function tellCalls({ world, nodes, chance, nowMs, ledger }: Run): Promise<void> {
  for (const call of world.calls) {
    if (call.isTold || nowMs - call.takenMs < STEP_MS) continue
    call.isTold = true
    call.status = (['completed', 'busy', 'no-answer', 'failed'] as const)[Math.floor(chance() * 4)] ?? 'completed'
    if (chance() < 0.15) continue
    const node = nodes[Math.floor(chance() * 2)] ?? nodes[0]
    const status = await tellCall(node, call)
    if (status !== null && ![200, 503].includes(status)) ledger.oddities.push(`a callback was answered with ${status}`)
  }
}

async function tellCall(node: VirtualNode, { sid, form, status }: TakenCall): Promise<number | null> {
  const path = new URL(form['StatusCallback'] ?? '').pathname
  const told = {
    CallSid: sid,
    AccountSid: ACCOUNT.sid,
    CallStatus: status,
    From: form['From'] ?? '',
    To: form['To'] ?? '',
  }
  const signature = sign(node.publicUrl + path, told, ACCOUNT.token)
  try {
    const headers = { 'x-twilio-signature': signature }
    const response = await fetch(node.address + path, { method: 'POST', headers, body: new URLSearchParams(told) })
    return response.status
  } catch {
    return null
  }
}

/** All four sweeps of a node; returns what it says that it did, as `task outcome`. */
async function sweepAll({ keys, ledger }: Run, node: VirtualNode): Promise<string[]> {
  const done: string[] = []
  for (const sweep of SWEEPS) {
    const answer = await ask(node, asAdmin(keys), { method: 'POST', path: `/admin/operator-queues/${sweep}` })
    if (answer === null) return done
    const { result } = answer.body as { result?: { items: { task_id: string; outcome: string }[] } }
    if (answer.status !== 200) ledger.oddities.push(`a sweep was answered with ${answer.status}`)
    for (const { task_id, outcome } of result?.items ?? []) if (ONCE.has(outcome)) done.push(`${task_id} ${outcome}`)
  }
  return done
}

/** What only one of two nodes can have done. */
const ONCE = new Set(['alerted', 'dispatched', 'reminded', 'escalated', 'woken', 'reconciled', 'reopened'])

/** In the middle of what it does. */
async function killOne(run: Run): Promise<void> {
  const index = run.chance() < 0.5 ? 0 : 1
  const [startedMs, delayMs] = [performance.now(), run.chance() * KILL_MS_SPAN]
  await until(() => performance.now() >= startedMs + delayMs, { what: 'the kill', timeoutMs: 1_000, everyMs: 1 })
  await run.nodes[index].kill()
  run.nodes[index] = await run.start()
  run.kills += 1
}

async function lookForUnalerted(run: Run): Promise<void> {
  const late = await unalerted(run.database, new Date(run.nowMs - ALERTED_WITHIN_MS))
  for (const id of late) run.faults.push(`nobody was alerted of ${id} at ${new Date(run.nowMs).toISOString()}`)
}

/** Nothing new comes; what a killed node was at is done by the others when its leases are over. */
async function settle(run: Run, fromMs: number): Promise<void> {
  let atMs = fromMs
  const isQuiet = async () => {
    await step(run, { atMs, isBusy: false })
    atMs += STEP_MS
    const { rows } = await run.database.query<{ waiting: number }>(
      "select count(*)::integer as waiting from webhook_outbox where status = 'pending'",
    )
    return rows[0]?.waiting === 0
  }
  const options = { what: 'the last deliveries', timeoutMs: LEASES_OVER_MS, everyMs: 200 }
  await until(isQuiet, options).catch(() => undefined)
}

/** How many failed deliveries the tenants' own lists show. */
async function listedAsFailed({ keys, nodes }: Run): Promise<number> {
  let listed = 0
  for (const tenant of TENANTS) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const path = `/webhook-deliveries?status=failed&limit=500${page}`
      const headers = { authorization: `Bearer ${keys.tokens.get(tenant)}` }
      const answer = await ask(nodes[0], headers, { method: 'GET', path })
      const { count = 0, next_cursor = null } = (answer?.body ?? {}) as { count?: number; next_cursor?: string | null }
      listed += count
      cursor = next_cursor
    }
  }
  return listed
}
