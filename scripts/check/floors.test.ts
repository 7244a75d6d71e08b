import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkFloors } from './floors.ts'
import { parse } from './source.ts'
import { readTree } from './tree.ts'
import { describeViolation } from './violation.ts'

/** Files as `path → text`; the answer is `rule@path:line` of all that is wrong with them. */
function broken(files: Record<string, string>): string[] {
  const sources = Object.entries(files).map(([path, text]) => parse({ path, text }))
  return checkFloors(sources).map(({ rule, file, line }) => `${rule}@${file}:${line}`)
}

/** The rules that one file of the house breaks. */
function brokenIn(path: string, text: string): string[] {
  return broken({ [`service/src/${path}`]: text }).map((found) => found.split('@')[0] ?? '')
}

describe('floors', () => {
  it('let an import go down, or stay', () => {
    const text = "import '../../kernel/ids.ts'\nimport '../db/migrate.ts'\nimport '../../../package.json'"
    expect(brokenIn('platform/http/server.ts', text)).toEqual([])
  })

  it.each([
    ['a value', "import { a } from '../platform/log.ts'"],
    ['a type', "import type { A } from '../platform/log.ts'"],
    ['a type in place', "export type A = import('../platform/log.ts').A"],
    ['a re-export', "export { a } from '../platform/log.ts'\nexport const b = 1"],
    ['a dynamic import', "export const a = () => import('../platform/log.ts')"],
  ])('refuse an import that goes up: %s', (_, text) => {
    expect(brokenIn('kernel/ids.ts', text)).toEqual(['floors'])
  })

  it('put the files beside main.ts on top, config.ts among them', () => {
    expect(brokenIn('calls/incoming.ts', "import '../config.ts'")).toEqual(['floors'])
    expect(brokenIn('deps.ts', "import './config.ts'\nimport './calls/incoming.ts'")).toEqual([])
  })

  it('refuse a folder that is no floor', () => {
    expect(brokenIn('utils/text.ts', 'export const a = 1')).toEqual(['floors'])
  })

  it('refuse what nobody can follow', () => {
    expect(brokenIn('kernel/ids.ts', 'export const load = (name: string) => import(name)')).toEqual(['floors'])
  })

  it('keep production code off tests, and in the house', () => {
    expect(brokenIn('kernel/ids.ts', "import '../../test/harness/app.ts'")).toEqual(['floors'])
    expect(brokenIn('kernel/ids.ts', "import './ids.fixture.ts'")).toEqual(['floors'])
    expect(brokenIn('kernel/ids.ts', "import '../../scripts/seed.ts'")).toEqual(['floors'])
    expect(brokenIn('kernel/ids.test.ts', "import '../../test/harness/app.ts'")).toEqual([])
  })

  it.each(['simulator', 'dashboard', 'client', 'bench'])('keep the service off %s/', (workspace) => {
    expect(brokenIn('app.ts', `import '../../${workspace}/src/main.ts'`)).toEqual(['floors'])
    expect(brokenIn('app.ts', `import '@parley/${workspace}'`)).toEqual(['floors'])
  })

  it('keep the folders of the dashboard in their order, and its features apart', () => {
    const page = 'dashboard/src/features/calls/calls-page.tsx'
    const down = "import '../../components/page.tsx'\nimport '../../api/client.ts'\nimport './call-queries.ts'"
    expect(broken({ [page]: down })).toEqual([])
    expect(broken({ [page]: "import '../agents/agent-queries.ts'" })).toEqual([`floors@${page}:1`])
    expect(broken({ [page]: "import '../../routes/router.ts'" })).toEqual([`floors@${page}:1`])
    const component = 'dashboard/src/components/page.tsx'
    expect(broken({ [component]: "import '../features/calls/calls-page.tsx'" })).toEqual([`floors@${component}:1`])
    const route = 'dashboard/src/routes/calls-routes.ts'
    expect(broken({ [route]: "export const a = () => import('../features/calls/calls-page.tsx')" })).toEqual([])
  })

  it.each(['simulator', 'dashboard', 'client'])('keep %s/ off the service', (workspace) => {
    expect(broken({ [`${workspace}/src/a.ts`]: "import '../../service/src/kernel/ids.ts'" })).toHaveLength(1)
    expect(broken({ [`${workspace}/src/a.tsx`]: "import type { A } from '@parley/service'" })).toHaveLength(1)
  })
})

describe('cycles', () => {
  const cycle = (kind: string): string[] =>
    broken({
      'service/src/kernel/a.ts': "import { b } from './b.ts'\nexport const a = b",
      'service/src/kernel/b.ts': "import { c } from './c.ts'\nexport const b = c",
      'service/src/kernel/c.ts': `\n${kind} { a } from './a.ts'\nexport const c = 1`,
    })

  it('are found between files of one floor', () => {
    expect(cycle('import')).toEqual(['cycles@service/src/kernel/c.ts:2'])
  })

  it('are found when an import is of types only', () => {
    expect(cycle('import type')).toEqual(['cycles@service/src/kernel/c.ts:2'])
  })

  it('are not seen in two ways to one file', () => {
    const files = {
      'service/src/kernel/a.ts': "import './b.ts'\nimport './c.ts'",
      'service/src/kernel/b.ts': "import './c.ts'",
      'service/src/kernel/c.ts': 'export const c = 1',
    }
    expect(broken(files)).toEqual([])
  })
})

describe('packages', () => {
  it.each([
    ['fastify', "import type { FastifyInstance } from 'fastify'", 'tenancy/tenant-routes.ts', 'tenancy/tenants.ts'],
    ['fastify', "import cookie from '@fastify/cookie'", 'platform/http/server.ts', 'app.ts'],
    ['database-driver', "import pg from 'pg'", 'platform/db/server-pool.ts', 'tenancy/tenant-store.ts'],
    ['database-driver', "import { PGlite } from '@electric-sql/pglite'", 'platform/db/a.ts', 'platform/bus/a.ts'],
    ['database-driver', "import { c } from '@electric-sql/pglite/contrib/c'", 'platform/db/a.ts', 'deps.ts'],
    ['sql', "import { sql } from 'kysely'", 'tenancy/tenant-store.ts', 'tenancy/tenants.ts'],
    ['sql', "import * as kysely from 'kysely'", 'agents/versions/store.ts', 'agents/versions/publish.ts'],
    ['sql', "export const all = (db: Db) => db.selectFrom('tenants')", 'platform/db/a.ts', 'tenancy/tenants.ts'],
    ['sql', "export const add = (db: Db) => db.insertInto('tenants')", 'tenancy/tenant-store.ts', 'app.ts'],
    ['sql', "export const put = (db: Db) => db.updateTable('tenants')", 'tenancy/tenant-store.ts', 'app.ts'],
    ['sql', "export const end = (db: Db) => db.deleteFrom('tenants')", 'tenancy/tenant-store.ts', 'app.ts'],
    ['sql', "export const mix = (db: Db) => db.mergeInto('tenants')", 'tenancy/tenant-store.ts', 'app.ts'],
  ])('%s: %s may stand in %s, not in %s', (rule, text, home, elsewhere) => {
    expect(brokenIn(home, text)).toEqual([])
    expect(brokenIn(elsewhere, text)).toEqual([rule])
  })

  it('let everybody have the types of kysely, and tests everything', () => {
    expect(brokenIn('tenancy/tenants.ts', "import type { Kysely } from 'kysely'")).toEqual([])
    expect(brokenIn('tenancy/tenants.test.ts', "import { sql } from 'kysely'\nimport pg from 'pg'")).toEqual([])
  })
})

describe('surroundings', () => {
  it.each([
    ['process', 'export const a = process.env'],
    ['process', 'export const a = globalThis.process'],
    ['process', "export const a = globalThis['process']"],
    ['process', 'export const a = (globalThis as { process?: unknown }).process'],
    ['process', 'const { process: p } = globalThis\nexport const a = p'],
    ['process', "import { env } from 'node:process'\nexport const a = env"],
    ['process', 'export const a = { process }'],
    ['clock', 'export const a = Date.now()'],
    ['clock', 'export const a = { now: Date.now }'],
    ['clock', "export const a = Date['now']()"],
    ['clock', 'const { now } = Date\nexport const a = now'],
    ['clock', 'export const a = new Date()'],
    ['clock', 'export const a = new globalThis.Date()'],
    ['clock', 'export const a = Date()'],
    ['clock', 'export const a = performance.now()'],
    ['clock', "import { performance } from 'node:perf_hooks'\nexport const a = performance.now()"],
    ['clock', "import * as hooks from 'node:perf_hooks'\nexport const a = hooks"],
    ['clock', 'export const a = () => setTimeout(() => {}, 1)'],
    ['clock', 'export const a = globalThis.setInterval'],
    ['clock', 'const { setImmediate } = globalThis\nexport const a = setImmediate'],
    ['clock', "import { setTimeout } from 'node:timers/promises'\nexport const a = setTimeout"],
    ['clock', "import timers from 'timers'\nexport const a = timers"],
    ['clock', 'export const a = Math.random()'],
    ['clock', 'const { random } = Math\nexport const a = random'],
    ['randomness', 'export const a = crypto.randomUUID()'],
    ['randomness', 'export const a = globalThis.crypto.getRandomValues'],
    ['randomness', "import { randomBytes } from 'node:crypto'\nexport const a = randomBytes(8)"],
    ['randomness', "import { randomUUID as id } from 'node:crypto'\nexport const a = id()"],
    ['randomness', "import crypto from 'node:crypto'\nexport const a = crypto.randomBytes(8)"],
    ['randomness', "import { webcrypto } from 'node:crypto'\nexport const a = webcrypto.getRandomValues"],
  ])('%s has one door: %s', (rule, text) => {
    expect(new Set(brokenIn('tenancy/tenants.ts', text))).toEqual(new Set([rule]))
    expect(brokenIn('tenancy/tenants.test.ts', text)).not.toContain(rule)
  })

  it('lets each come in by its door', () => {
    expect(brokenIn('main.ts', 'export const a = process.env')).toEqual([])
    expect(brokenIn('kernel/clock.ts', 'export const a = () => [Date.now(), setTimeout(() => {}, 1)]')).toEqual([])
    expect(
      brokenIn('kernel/ids.ts', "import { randomBytes } from 'node:crypto'\nexport const a = randomBytes"),
    ).toEqual([])
  })

  it.each([
    ['a moment that was given', 'export const a = (ms: number) => new Date(ms)'],
    ['a parameter of that name', 'export const a = (process: { env: string }) => process.env'],
    ['a member of that name', 'export const a = (call: { process: () => void }) => call.process()'],
    ['a method of that name', 'export class A { setTimeout(): void {} }'],
    ['a key of that name', 'export const a = { process: 1 }'],
    ['a type of a timer', 'export type Timer = ReturnType<typeof setTimeout>'],
    ['a clock that was given', 'export const a = (clock: { now: () => number }) => clock.now()'],
    ['an id that was given', "import { randomBytes } from '../kernel/ids.ts'\nexport const a = randomBytes(8)"],
    ['a hash', "import { createHash } from 'node:crypto'\nexport const a = createHash('sha256')"],
  ])('does not mind %s', (_, text) => {
    expect(brokenIn('tenancy/tenants.ts', text)).toEqual([])
  })

  it('is not fooled by a name that is bound elsewhere in the file', () => {
    const text = 'export const a = (process: string) => process\nexport const b = process.env'
    expect(broken({ 'service/src/app.ts': text })).toEqual(['process@service/src/app.ts:2'])
  })
})

describe('modules', () => {
  it.each([
    ['a variable', 'let count = 0\nexport const next = () => ++count'],
    ['an exported one', 'export let count = 0'],
    ['a collection to be filled', 'const calls = new Map<string, number>()\nexport const size = () => calls.size'],
    ['a list to be filled', 'export const calls: string[] = []'],
  ])('hold no state: %s', (_, text) => {
    expect(brokenIn('voice/session.ts', text)).toEqual(['module-state'])
  })

  it.each([
    ['a table', "const KINDS = new Set(['a'])\nexport const isKind = (kind: string) => KINDS.has(kind)"],
    ['a variable of a function', 'export function next() {\n  let count = 0\n  return () => ++count\n}'],
  ])('may hold %s', (_, text) => {
    expect(brokenIn('voice/session.ts', text)).toEqual([])
  })

  it('may hold state in tests, and what belongs to the process in its platform', () => {
    expect(brokenIn('voice/session.test.ts', 'let count = 0\ncount += 1')).toEqual([])
    expect(brokenIn('platform/websocket/masking.ts', 'let used = 0\nexport const next = () => ++used')).toEqual([])
  })
})

describe('shape', () => {
  it('refuses a file that only re-exports', () => {
    expect(brokenIn('kernel/index.ts', "export * from './ids.ts'\nexport { a } from './clock.ts'")).toEqual(['barrel'])
    expect(brokenIn('kernel/index.ts', "import { a } from './ids.ts'\nexport { a }")).toEqual(['barrel'])
    expect(brokenIn('kernel/side.ts', "import './ids.ts'")).toEqual([])
  })

  it('refuses an export without a name', () => {
    expect(brokenIn('kernel/ids.ts', 'export default 1')).toEqual(['default-export'])
    expect(brokenIn('kernel/ids.ts', 'const a = 1\nexport { a as default }')).toEqual(['default-export'])
  })

  it('refuses what does not parse', () => {
    expect(brokenIn('kernel/ids.ts', 'export const =')).toContain('syntax')
  })
})

describe('tests', () => {
  it.each([
    ['a promise of a time', 'await new Promise((resolve) => setTimeout(resolve, 100))'],
    ['one in a function', 'export const a = () => new Promise<void>((done) => { setTimeout(() => done(), 5) })'],
    ["node's own", "import { setTimeout as sleep } from 'node:timers/promises'\nawait sleep(5)"],
  ])('do not sleep: %s', (_, text) => {
    expect(brokenIn('kernel/ids.test.ts', text)).toEqual(['sleep'])
    expect(broken({ 'service/test/harness/app.ts': text })).toHaveLength(1)
    expect(broken({ 'service/test/harness/wait.ts': text })).toEqual([])
  })

  it('may answer late', () => {
    expect(brokenIn('kernel/ids.test.ts', 'setTimeout(() => server.end(), 100)')).toEqual([])
  })
})

describe('this project', () => {
  // Two and a half thousand files are parsed, which takes ten seconds of a processor that others may want as well.
  it('keeps its house in order', { timeout: 120_000 }, () => {
    const root = join(import.meta.dirname, '..', '..')
    expect(checkFloors(readTree(root)).map(describeViolation)).toEqual([])
  })
})
