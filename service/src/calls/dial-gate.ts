import type { Clock } from '../kernel/clock.ts'
import { type DialledNumber, readNumber } from '../kernel/dialled-number.ts'
import { LocalTime } from '../kernel/local-time.ts'
import { phoneNumberOf, spellingsOf } from '../kernel/phone.ts'
import { costlyKind } from '../kernel/premium-numbers.ts'
import { isListed } from '../operators/do-not-call-store.ts'
import type { Db, Tx } from '../platform/db/schema.ts'
import { BeginningTurns } from '../records/beginning-turns.ts'
import { LONGEST_LIVE_MS } from '../records/call-values.ts'
import { countLiveCalls, lockBeginnings } from '../records/live-call-store.ts'
import { type DayRefusal, dayRefusal, spentToday } from '../records/spent-today.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { type CallingHours, clockText, closedZone, haveCommonTime, USUAL_HOURS } from './calling-hours.ts'
import { countAttempts } from './dial-gate-store.ts'
import { zonesOf } from './number-zones.ts'

/** A call that somebody wants to be placed. */
export type Dial = {
  /** E.164. */
  to: string
  from: string | null
  metadata: Record<string, unknown>
  kind: 'make_call' | 'dispatch' | 'campaign'
  /** Hours that are kept beside the tenant's; null, or not given, for none. */
  hours?: CallingHours | null
}

/** Each is also the code of the error that refuses the call. */
export type DialRefusalCode =
  | 'dnc_listed'
  | 'premium_number'
  | 'country_not_allowed'
  | 'outside_calling_hours'
  | 'attempt_cap'
  | 'tenant_busy'
  | DayRefusal
  | 'consent_missing'

/** What speaks against a call. The reason is a sentence that a person can act on, without the number. */
export type DialRefusal = { code: DialRefusalCode; reason: string }

/** What every call that goes out has to pass. */
export type DialGate = {
  /**
   * All that speaks against the call, the gravest first; empty: it may be placed. Asked in the transaction that writes the
   * dial down, after which no second one can slip past the same cap: under a cap, others of the tenant wait for its end.
   */
  refusals(tx: Tx, tenant: TenantRuntime, dial: Dial): Promise<DialRefusal[]>
  /**
   * The transaction in which `refusals` is asked. Those of the tenant that would wait for each other do so before they take a
   * connection. @throws AppError `unavailable` after five seconds of that.
   */
  transaction<T>(db: Db, tenant: TenantRuntime, work: (tx: Tx) => Promise<T>): Promise<T>
  /** What speaks against a call that is not placed now. Nobody waits. */
  check(db: Db, tenant: TenantRuntime, dial: Dial): Promise<DialRefusal[]>
  /**
   * When a number may be called next by the hours of dispatches, and of a campaign: now, if it may be. Null where they leave it no time at
   * all.
   */
  opensAt(tenant: TenantRuntime, dial: { to: string; hours: CallingHours | null }): Date | null
  /** Whether the hours of dispatches, and of a campaign, have any time in common: without that, nobody may be called anywhere. */
  everOpens(tenant: TenantRuntime, hours: CallingHours | null): boolean
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS

export function makeDialGate({ clock }: { clock: Clock }): DialGate {
  const local = new LocalTime()
  const turns = new BeginningTurns()

  async function found(tx: Tx, tenant: TenantRuntime, dial: Dial): Promise<DialRefusal[]> {
    const { max_attempts_per_day: maxAttempts } = tenant.compliance
    const { max_concurrent_calls: maxCalls } = tenant.limits
    const asked = { tx, tenant, dial, number: readNumber(dial.to), nowMs: clock.now(), local }
    const all = [
      await listed(asked),
      costly(asked),
      foreign(asked),
      unconsented(asked),
      untimely(asked),
      maxAttempts === null ? null : await attempted(asked, maxAttempts),
      await exhausted(asked),
      maxCalls === null ? null : await busy(asked, maxCalls),
    ]
    return all.filter((refusal) => refusal !== null)
  }

  return {
    async refusals(tx, tenant, dial) {
      if (isCapped(tenant)) await lockBeginnings(tx, tenant.tenant_id)
      return found(tx, tenant, dial)
    },
    transaction(db, tenant, work) {
      const execute = () => db.transaction().execute(work)
      return isCapped(tenant) ? turns.inTurn(tenant.tenant_id, execute) : execute()
    },
    check: (db, tenant, dial) =>
      db
        .transaction()
        .setAccessMode('read only')
        .execute((tx) => found(tx, tenant, dial)),
    opensAt(tenant, { to, hours }) {
      const all = hoursOf(tenant, { kind: 'campaign', hours })
      const zones = zonesFor(tenant, readNumber(to))
      const isOpen = (atMs: number) =>
        all.every((each) => closedZone(each, zones, (zone) => local.timeOfDayMs(zone, atMs)) === null)
      const nowMs = clock.now()
      if (isOpen(nowMs)) return new Date(nowMs)
      const thisMs = nowMs - (nowMs % QUARTER_MS)
      const offsets = offsetsOf(all)
      for (let quarterMs = thisMs; quarterMs < thisMs + 2 * DAY_MS; quarterMs += QUARTER_MS) {
        const opensMs = offsets.map((ms) => quarterMs + ms).find((atMs) => atMs > nowMs && isOpen(atMs))
        if (opensMs !== undefined) return new Date(opensMs)
      }
      return null
    },
    everOpens: (tenant, hours) => haveCommonTime(hoursOf(tenant, { kind: 'campaign', hours })),
  }
}

/** Whether what may be placed depends on what else is. */
function isCapped({ compliance, limits }: TenantRuntime): boolean {
  const { max_concurrent_calls: maxCalls, minutes_per_day: maxMinutes, budget_per_day: budget } = limits
  return [compliance.max_attempts_per_day, maxCalls, maxMinutes, budget].some((cap) => cap !== null)
}

/** When in a quarter of an hour such hours may begin: zones are whole quarters apart. */
function offsetsOf(all: CallingHours[]): number[] {
  const begins = all.map(({ start }) => (Number(start.slice(3)) * MINUTE_MS) % QUARTER_MS)
  return [...new Set([0, ...begins])].toSorted((one, other) => one - other)
}

/** All of them are kept. */
function hoursOf(tenant: TenantRuntime, { kind, hours = null }: Pick<Dial, 'kind' | 'hours'>): CallingHours[] {
  const own = tenant.compliance.calling_hours ?? (kind === 'make_call' ? null : USUAL_HOURS)
  return [own, hours].filter((each) => each !== null)
}

type Asked = { tx: Tx; tenant: TenantRuntime; dial: Dial; number: DialledNumber; nowMs: number; local: LocalTime }

async function listed({ tx, tenant: { tenant_id }, dial: { to } }: Asked): Promise<DialRefusal | null> {
  // Either may have been kept with a prefix of its country: it is the same number.
  const number = phoneNumberOf(to)
  if (!(await isListed(tx, tenant_id, number === null ? [to] : [to, ...spellingsOf(number)]))) return null
  const reason = 'The number is on the do-not-call list: it may be called once it is taken off.'
  return { code: 'dnc_listed', reason }
}

function costly({ number }: Asked): DialRefusal | null {
  const kind = costlyKind(number)
  return kind && { code: 'premium_number', reason: `The number is ${kind}, and those are never called.` }
}

/** A number that may be in several countries may be called when all of them may. */
function foreign({ tenant, number: { countries } }: Asked): DialRefusal | null {
  const allowed = tenant.compliance.allowed_countries
  if (allowed === null) return null
  const [first] = countries
  if (first !== undefined && countries.every((country) => allowed.includes(country))) return null
  const where = countries.length > 1 ? 'may be in one of several countries' : `is in ${first ?? 'no country'}`
  const reason = `The number ${where}, and compliance.allowed_countries does not allow that.`
  return { code: 'country_not_allowed', reason }
}

function unconsented({ tenant, dial }: Asked): DialRefusal | null {
  if (!tenant.compliance.require_consent || dial.metadata['consent'] === true) return null
  const reason = 'Nobody says that this person agreed to be called: send metadata.consent as true once they did.'
  return { code: 'consent_missing', reason }
}

function untimely({ tenant, dial, number, nowMs, local }: Asked): DialRefusal | null {
  const timeIn = (zone: string) => local.timeOfDayMs(zone, nowMs)
  const zones = zonesFor(tenant, number)
  const closed = hoursOf(tenant, dial).flatMap((hours) => {
    const zone = closedZone(hours, zones, timeIn)
    return zone === null ? [] : [{ hours, zone }]
  })
  const [first] = closed
  if (!first) return null
  const { hours, zone } = first
  const now = clockText(timeIn(zone))
  const reason = `It is ${now} where the number may be (${zone}): call from ${hours.start} until before ${hours.end}.`
  return { code: 'outside_calling_hours', reason }
}

/** Where the callee may be in several days, the longest counts. */
async function attempted({ tx, tenant, dial, number, nowMs, local }: Asked, max: number): Promise<DialRefusal | null> {
  const dayMs = Math.min(...zonesFor(tenant, number).map((zone) => local.dayStartMs(zone, nowMs)))
  const attempts = await countAttempts(tx, tenant.tenant_id, dial.to, new Date(dayMs))
  if (attempts < max) return null
  const reason = `The number was called as often today (${attempts}) as compliance.max_attempts_per_day lets it be: call tomorrow.`
  return { code: 'attempt_cap', reason }
}

async function exhausted({ tx, tenant, nowMs }: Asked): Promise<DialRefusal | null> {
  const spent = await spentToday(tx, tenant, { now: new Date(nowMs) })
  const code = dayRefusal(tenant, spent)
  if (spent === null || code === null) return null
  const { minutes_per_day: maxMinutes, budget_per_day: budget } = tenant.limits
  const [taken, cap] =
    code === 'minutes_exhausted'
      ? [`taken ${Math.floor(spent.seconds / 60)} minutes`, `limits.minutes_per_day allows ${maxMinutes}`]
      : [`cost ${spent.usd.toFixed(2)} USD`, `limits.budget_per_day allows ${budget}`]
  return { code, reason: `The calls of today (UTC) have ${taken}, and ${cap}: call tomorrow.` }
}

async function busy({ tx, tenant, nowMs }: Asked, max: number): Promise<DialRefusal | null> {
  const calls = await countLiveCalls(tx, tenant.tenant_id, { since: new Date(nowMs - LONGEST_LIVE_MS) })
  if (calls < max) return null
  const reason = `There are as many calls now (${calls}) as limits.max_concurrent_calls allows: call when one has ended.`
  return { code: 'tenant_busy', reason }
}

/** The zones that the number may be in; of a number that tells nothing, the tenant's. */
function zonesFor({ compliance }: TenantRuntime, number: DialledNumber): readonly string[] {
  const zones = zonesOf(number)
  return zones.length > 0 ? zones : [compliance.timezone ?? 'UTC']
}
