// A node of the operators' week: the whole service, whose time its parent moves.
import { migrate } from '../../src/platform/db/migrate.ts'
import { openServer } from '../../src/platform/db/server.ts'
import { makeLog } from '../../src/platform/log.ts'
import { TestClock } from '../harness/clock.ts'
import { ScriptedModel } from '../harness/scripted-model.ts'
import { ServedApp } from '../harness/served-app.ts'

/** What a node is started with. */
export type NodeStart = { databaseUrl: string; settings: Record<string, string>; nowMs: number }

/** What it says once it listens. `publicUrl`: what callbacks to it are signed for. */
export type NodeListens = { address: string; publicUrl: string }

/** Its parent wants it to be this late, and is told when it is. */
export type MoveTime = { id: number; nowMs: number }

const MIGRATIONS = new URL('../../migrations/', import.meta.url)

const { databaseUrl, settings, nowMs } = JSON.parse(process.argv[2] ?? '') as NodeStart
const clock = new TestClock(nowMs)
const database = openServer({ url: databaseUrl, applicationName: 'parley of the operators' })
await migrate(database.db, MIGRATIONS, makeLog({ level: 'silent', secrets: [] }))
const served = await ServedApp.start(null as never, { database, clock, model: new ScriptedModel(), settings })

async function moveTo(wantedMs: number): Promise<void> {
  // It has slept: what fell due meanwhile is done once, not as often as it would have been.
  clock.skip(Math.max(0, wantedMs - clock.now() - 1))
  await clock.advance(Math.max(0, wantedMs - clock.now()))
}

let moving = Promise.resolve()
process.on('message', ({ id, nowMs: wantedMs }: MoveTime) => {
  moving = moving.then(() => moveTo(wantedMs)).then(() => void process.send?.({ id }))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ address: served.address, publicUrl: served.app.publicUrl() } satisfies NodeListens)
// Its timers keep no process alive.
setInterval(() => {}, 1 << 30)
