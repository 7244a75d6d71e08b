import { sql } from 'kysely'
import { DEMO } from '../../src/demo.ts'
import { openEmbedded } from '../../src/platform/db/embedded.ts'
import type { Db } from '../../src/platform/db/schema.ts'
import { addCall } from '../../src/records/analytics/analytics.fixture.ts'

const MINUTE_MS = 60_000
const HOURS = 7 * 24
const AGENTS = { 'front-desk': 'Robin', sales: 'Sasha', service: 'Toni' }
const SUMMARIES = [
  'Asked when the shop is open on Saturday.',
  'Ordered six green garden chairs; the address was confirmed.',
  'A chair came with a scratch. Wants it exchanged.',
  'Wanted to know where order 4711 is, and was told that it comes on Thursday.',
  'Asked whether cushions can be washed.',
  'Wanted a person: a callback was promised for the afternoon.',
]

/** The same numbers between 0 and 1 in every run. */
function drawn(): () => number {
  let seed = 7
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
}

/** How many calls an hour has, by the time of day in UTC: few at night, most before noon and in the afternoon. */
function callsOf(hour: number, chance: number): number {
  const open = Math.max(0, Math.sin(((hour - 6) / 14) * Math.PI)) * (1 - 0.3 * Math.exp(-((hour - 13) ** 2) / 2))
  return Math.round(open * 14 * (0.6 + 0.8 * chance))
}

/** A week of calls of the demo tenant until now, in a folder that no service has open. */
export async function addDemoCalls(folder: string, nowMs: number): Promise<void> {
  const database = await openEmbedded({ folder, pid: process.pid })
  try {
    const draw = drawn()
    for (let ago = HOURS; ago >= 0; ago -= 1) {
      const startMs = nowMs - ago * 60 * MINUTE_MS
      const calls = callsOf(new Date(startMs).getUTCHours(), draw())
      for (let n = 0; n < calls; n += 1) {
        const at = new Date(startMs + Math.floor(draw() * 59) * MINUTE_MS)
        if (at.getTime() < nowMs) await addDemoCall(database.db, at, draw)
      }
    }
    await nameCalls(database.db)
  } finally {
    await database.close()
  }
}

async function addDemoCall(db: Db, at: Date, draw: () => number): Promise<void> {
  const isAnswered = draw() < 0.9
  const answers = 3 + Math.floor(draw() * 9)
  await addCall(db, DEMO.tenantId, {
    at,
    agentKey: Object.keys(AGENTS)[Math.floor(draw() ** 2 * 3)] ?? DEMO.agentKey,
    ...(isAnswered
      ? {
          talkSeconds: 40 + Math.floor(draw() * 240),
          timesMs: Array.from({ length: answers }, () => 380 + Math.floor(draw() ** 3 * 1_400)),
          interruptions: Math.floor(draw() * 3),
          score: Math.round(100 * (0.62 + 0.36 * draw())) / 100,
        }
      : { talkSeconds: null, status: draw() < 0.7 ? 'no-answer' : 'busy' }),
  })
}

/** Each with a caller, its agent's name, and what it was about. Numbers are those kept for fiction. */
async function nameCalls(db: Db): Promise<void> {
  const order = sql`row_number() over (order by created_at, id)`
  await sql`
    update call_logs
       set "from" = '+1202555' || lpad((100 + (n * 37) % 100)::text, 4, '0'), "to" = ${DEMO.phoneNumber}::text,
           agent_name = ${JSON.stringify(AGENTS)}::jsonb ->> agent_key,
           summary = case when status = 'completed' then (${JSON.stringify(SUMMARIES)}::jsonb ->> (n * 7 % 6)::int) end
      from (select id as numbered, ${order} as n from call_logs) numbers where id = numbered`.execute(db)
}
