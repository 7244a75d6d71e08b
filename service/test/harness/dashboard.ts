import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, inject } from 'vitest'
import type { Db } from '../../src/platform/db/schema.ts'
import { type Look, startChromium, type TestChromium } from './chromium.ts'
import { killPrograms, startProgram } from './program.ts'
import { rehearsedCall } from './rehearsed-call.ts'
import { type Copy, copyTemplate } from './template.ts'
import { type WatchedPage, watchedPage } from './watched-page.ts'

/** Who may do everything in the dashboard of a test. */
export const LOGIN = { username: 'ada', password: 'a password of the dashboard tests' }

const ADMIN_API_KEY = 'ak_key_of_the_dashboard_tests'
/** Of a browser without a graphics card, on a machine that does something else. */
const WAIT_MS = 30_000
/** A machine that is busy takes no call, and says so; or so much of the caller's sound comes late that other words are heard. */
const CALL_TRIES = 10

type Options = {
  /** Beside a simulator, and as many requests as a browser likes. */
  settings?: Record<string, string>
  /** Makes rows that are there before the program starts. */
  furnish?: (db: Db) => Promise<void>
  /** For whom `ask` asks; the tenant of the demo if not given. */
  tenant?: string
  /** How long a page waits for what it is told to wait for. */
  waitMs?: number
}

/** The whole service as a program of its own, and a Chromium that visits it. Reading `address` before `beforeAll` has run throws. */
export type Dashboard = {
  readonly address: string
  /** Where the program keeps everything. */
  readonly folder: string
  /** Calls a path below `/api/v1` with the key of the administrator. @throws Error unless it succeeds. */
  ask<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body>
  /** Rings the demo number, says this once the agent has greeted, and hangs up; returns the id of the call in which it was heard. */
  call(said: string): Promise<string>
  /** A fresh profile that looks so; nobody is logged in. */
  context(look: Look): Promise<BrowserContext>
  /** A fresh profile that looks so, in which somebody is logged in; `LOGIN` if nobody else is named. */
  loggedIn(look: Look, username?: string): Promise<BrowserContext>
  /** Opens a path of the service in a page that is watched. */
  visit(context: BrowserContext, path: string): Promise<WatchedPage>
}

type Opened = { copy: Copy; settings: Record<string, string>; address: string; chromium: TestChromium | null }

/** Gives a test file a service with a dashboard, on a migrated database of its own, for as long as its tests run. */
export function useDashboard({ settings = {}, furnish, tenant = 'demo', waitMs = WAIT_MS }: Options = {}): Dashboard {
  let opened: Opened | undefined
  const current = (): Opened => {
    if (!opened) throw new Error('the program is up only while tests run')
    return opened
  }
  beforeAll(async () => {
    // A database that is migrated already: to make one takes a program longer than all else of its start.
    const copy = await copyTemplate(inject('databaseTemplate'))
    if (furnish) await withDatabase(copy, furnish)
    const all = {
      ...{ ...copy.settings, SIMULATOR: 'on', ADMIN_API_KEY, ADMIN_USERNAME: LOGIN.username },
      ...{
        ADMIN_PASSWORD: LOGIN.password,
        RATE_LIMIT_IP_PER_MINUTE: '1000000',
        RATE_LIMIT_TENANT_PER_MINUTE: '1000000',
      },
      ...settings,
    }
    const program = startProgram(all)
    // On a machine that is busy with other tests it may take twice its time.
    const address = await program.listening().catch(() => program.listening())
    opened = { copy, settings: all, address, chromium: null }
  })
  afterAll(async () => {
    await opened?.chromium?.close()
    await killPrograms()
    await opened?.copy.remove()
    opened = undefined
  })

  const context = async (look: Look): Promise<BrowserContext> => {
    const open = current()
    // With the first page, and not beside a call, which a busy machine would not take.
    open.chromium ??= await startChromium()
    const made = await open.chromium.context(look)
    made.setDefaultTimeout(waitMs)
    return made
  }
  return {
    get address() {
      return current().address
    },
    get folder() {
      return current().settings['DATA_DIR'] ?? ''
    },
    async ask<Body>(method: string, path: string, body?: unknown) {
      const headers = { 'x-admin-key': ADMIN_API_KEY, 'x-tenant-id': tenant }
      const type = { 'content-type': 'application/json' }
      const sent = body === undefined ? { headers } : { headers: { ...headers, ...type }, body: JSON.stringify(body) }
      const response = await fetch(`${current().address}/api/v1${path}`, { method, ...sent })
      const text = await response.text()
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
      return JSON.parse(text) as Body
    },
    call: (said) => takenCall(current().settings, said),
    context,
    async loggedIn(look, username = LOGIN.username) {
      const made = await context(look)
      const { address } = current()
      const asked = { data: { username, password: LOGIN.password }, headers: { origin: address } }
      const answer = await made.request.post(`${address}/api/v1/admin/auth/login`, asked)
      if (!answer.ok()) throw new Error(`nobody is logged in: ${answer.status()} ${await answer.text()}`)
      return made
    },
    async visit(visiting, path) {
      const { address } = current()
      const watched = await watchedPage(visiting, address)
      await watched.page.goto(address + path)
      return watched
    },
  }
}

async function withDatabase(copy: Copy, work: (db: Db) => Promise<void>): Promise<void> {
  const database = await copy.open()
  try {
    await work(database.db)
  } finally {
    await database.close()
  }
}

async function takenCall(settings: Record<string, string>, said: string): Promise<string> {
  for (let tries = 1; ; tries += 1) {
    const { code, stdout, stderr } = await rehearsedCall(settings, ['--say', said])
    if (code === 0 && stdout.includes(said)) return /CA\w+/.exec(stdout)?.[0] ?? ''
    if (tries === CALL_TRIES || !(code === 0 || stderr.includes('overloaded')))
      throw new Error(`the call failed: ${stderr}${stdout}`)
  }
}
