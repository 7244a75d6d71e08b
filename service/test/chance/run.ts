import { isDeepStrictEqual } from 'node:util'
import { SeededRandom } from '../corpus/random.ts'
import { unlikeAnalytics } from './analytics.ts'
import { Draw } from './draw.ts'
import { ANY, type Model, modelOf, type Op, type Predicted, refusalOf, type Told } from './model.ts'
import { OPERATIONS } from './operations.ts'
import { allLists, keyOf, type List, rowsOfPage, unlikeReads } from './reads.ts'
import { unlikeRow } from './unlike.ts'
import { type Actor, type Answer, TENANTS, type World, type Written } from './world.ts'

/** How many steps are two requests at the same time. */
const RACES = 0.35

type Found = { op: Op; answer: Answer }

/** Operations by chance, one after the other or two at a time, each held against a model. */
export class ChanceRun {
  readonly #world: World
  readonly #draw: Draw
  #model: Model
  readonly #trace: string[] = []

  private constructor(world: World, model: Model, seed: number) {
    this.#world = world
    this.#model = model
    this.#draw = new Draw(new SeededRandom(seed))
  }

  static async start(world: World, seed: number): Promise<ChanceRun> {
    return new ChanceRun(world, await modelOf(world, TENANTS), seed)
  }

  /** What was done, for whoever looks for the cause of a fault. */
  get trace(): readonly string[] {
    return this.#trace
  }

  /** So many steps; returns what was not as it should be, after the first step that found any. */
  async run(steps: number): Promise<string[]> {
    for (let step = 0; step < steps; step += 1) {
      const faults = await this.#step(step)
      if (faults.length > 0) return faults.map((fault) => `step ${step}: ${fault}`)
    }
    const last = await unlikeReads(this.#world, this.#model)
    return [...last, ...(await unlikeAnalytics(this.#world, this.#model, this.#draw.random))]
  }

  async #step(step: number): Promise<string[]> {
    const { random } = this.#draw
    if (random.chance(0.03)) return this.#walk(step)
    if (random.chance(0.02)) return unlikeAnalytics(this.#world, this.#model, random)
    const faults = await this.#once(step)
    return faults.length > 0 || !random.chance(0.04) ? faults : unlikeReads(this.#world, this.#model)
  }

  async #once(step: number): Promise<string[]> {
    const { random } = this.#draw
    // Less in all than a login lasts that is not used.
    await this.#world.clock.advance(random.pick([0, 1, 1, 500, 9_000]))
    this.#model.nowMs = this.#world.clock.now()
    const first = this.#op()
    const rival = random.chance(RACES) ? this.#rival(first) : null
    // What was told meanwhile of a number that is erased may be erased with it, before it is read here.
    const both = rival === null || [first, rival].some(erasesNumber) ? [first] : [first, rival]
    const found = await Promise.all(both.map(async (op) => ({ op, answer: await this.#world.ask(op.actor, op) })))
    for (const { op, answer } of found) this.#note(step, op, answer)
    const written = await this.#world.written()
    return this.#adopt(found, written)
  }

  /** Goes through a list page by page while others write: what is on it all the while comes once, and nothing twice. */
  async #walk(step: number): Promise<string[]> {
    const { random } = this.#draw
    const { path, tenant } = random.pick(allLists(this.#model).filter(({ rows }) => rows.length > 1))
    const here = () => allLists(this.#model).find((list) => list.path === path && list.tenant === tenant) as List
    let [kept, cursor] = [idsOf(here()), null as string | null]
    const seen: string[] = []
    for (let pages = 0; pages < 60; pages += 1) {
      const limited = path.replace('limit=500', `limit=${1 + random.below(3)}`)
      const page = await rowsOfPage(this.#world, {
        ...here(),
        path: cursor ? `${limited}&cursor=${encodeURIComponent(cursor)}` : limited,
      })
      seen.push(...page.ids)
      cursor = page.nextCursor
      if (cursor === null) break
      const faults = await this.#once(step)
      if (faults.length > 0) return faults
      kept = kept.intersection(idsOf(here()))
    }
    const missed = [...kept].filter((id) => !seen.includes(id))
    const twice = seen.filter((id, at) => seen.indexOf(id) !== at)
    // What is put off or moved on, in the order of what is due, comes again where it stands now.
    const isMoving = path.includes('order=due')
    return (missed.length === 0 || isMoving) && (twice.length === 0 || isMoving)
      ? []
      : [`${path} in pages: missed ${missed.join()}, twice ${twice.join()}`]
  }

  #note(step: number, { route, path, body, headers, actor }: Op, { status, body: answer }: Answer): void {
    const [method] = route.split(' ')
    const sent = `${JSON.stringify(body) ?? ''} ${JSON.stringify(headers) ?? ''}`.slice(0, 600)
    this.#trace.push(
      `${step} ${actor.name || actor.kind}: ${method} ${path} ${sent} → ${status} ${JSON.stringify(answer).slice(0, 1_200)}`,
    )
  }

  #op(): Op {
    const { random } = this.#draw
    const make = random.pick(OPERATIONS)
    const tenant = random.pick(TENANTS)
    const op = make({ draw: this.#draw, model: this.#model, tenant, actor: this.#world.administrator() })
    const actor = this.#actorFor(op)
    if (actor === op.actor) return op
    return make({ draw: this.#draw, model: this.#model, tenant, actor })
  }

  /** Most often somebody who may. */
  #actorFor({ route, tenant }: Op): Actor {
    const { random } = this.#draw
    const { actors } = this.#world
    if (random.chance(0.1)) {
      const others = actors.filter((actor) => !isForeignRuntime(route, actor, tenant))
      return random.pick(others)
    }
    return random.pick(
      actors.filter(
        (actor) =>
          ((actor.kind !== 'key' && actor.kind !== 'person') || actor.tenant === tenant) &&
          refusalOf({ route, actor, tenant }) === null,
      ),
    )
  }

  /** Another operation, on the same thing if chance will have it. */
  #rival(first: Op): Op {
    for (let tries = 0; tries < 12; tries += 1) {
      const op = this.#op()
      if (
        op.tenant === first.tenant &&
        op.path.split('/').some((part) => part.length > 20 && first.path.includes(part))
      )
        return op
      if (op.path === first.path) return op
    }
    return this.#op()
  }

  /** Takes over what the order makes of the model that fits the answers; returns what is wrong where none does. */
  async #adopt(found: Found[], written: Written[]): Promise<string[]> {
    const orders = found.length === 1 ? [found] : [found, found.toReversed()]
    const fitting: Model[] = []
    const told: string[][] = []
    for (const order of orders) {
      const model = structuredClone(this.#model)
      const predicted = order.map(({ op, answer }) => predict(op, model, answer))
      const faults = [
        ...order.flatMap((each, index) => unlike(each, predicted[index] as Predicted)),
        ...unlikeWritten(predicted, written),
      ]
      if (faults.length === 0) fitting.push(model)
      else told.push(faults)
    }
    if (fitting.length > 0) return this.#chosen(fitting)
    return told.length === 1 ? (told[0] ?? []) : told.map((faults, index) => `order ${index}: ${faults.join('; ')}`)
  }

  /** Of two changes of the same, no answer tells which was the last: the lists do. */
  async #chosen([first, second]: Model[]): Promise<string[]> {
    this.#model = first as Model
    if (!second || isDeepStrictEqual(first, second)) return []
    const faults = await unlikeReads(this.#world, first as Model)
    if (faults.length === 0) return []
    this.#model = second
    const others = await unlikeReads(this.#world, second)
    return others.length === 0 ? [] : [...faults, ...others]
  }
}

function erasesNumber({ route }: Op): boolean {
  return route === 'POST /api/v1/erasures'
}

/** A runtime address names no tenant: there everybody is in their own. */
function isForeignRuntime(route: string, { tenant }: Actor, asked: string | null): boolean {
  return !route.includes('/admin/') && tenant !== null && tenant !== asked
}

function predict(op: Op, model: Model, answer: Answer): Predicted {
  const status = refusalOf(op)
  // As it is now: what comes behind it changes the model's own.
  return status === null ? structuredClone(op.predict(model, answer)) : { status }
}

function unlike({ op, answer }: Found, { status, row, counts = {} }: Predicted): string[] {
  const what =
    `${op.actor.name || op.actor.kind} ${op.route.split(' ')[0]} ${op.path} ${JSON.stringify(op.body) ?? ''}`.slice(
      0,
      500,
    )
  if (answer.status !== status)
    return [`${what}: ${answer.status} instead of ${status}: ${JSON.stringify(answer.body).slice(0, 300)}`]
  const miscounted = unlikeRow(answer.body, counts).map((fault) => `${what}: ${fault}`)
  if (!row || status !== 200) return status === 200 ? miscounted : []
  const [name, wanted] = row
  const got = answer.body[name] ?? null
  return unlikeRow(got, wanted).map((fault) => `${what}: ${name}.${fault}`)
}

function unlikeWritten(predicted: Predicted[], written: Written[]): string[] {
  const wanted = predicted.flatMap(({ told = [] }, at) => {
    const untold = predicted.slice(at + 1).flatMap((later) => later.untold ?? [])
    return told.filter(({ kind, of }) => kind !== 'event' || !untold.includes(of)).map(nameOf)
  })
  const got = written
    .map(({ kind, name, body, target }) =>
      nameOf({ kind, name, of: kind === 'event' ? subjectOf(body) : name === 'dnc.removed' ? ANY : String(target) }),
    )
    .sort()
  return isDeepStrictEqual(got, wanted.sort())
    ? []
    : [`written ${JSON.stringify(got)} instead of ${JSON.stringify(wanted)}`]
}

const idsOf = ({ rows }: List) => new Set(rows.map(keyOf))

const nameOf = ({ kind, name, of }: Told): string => `${kind} ${name} ${of}`

function subjectOf(body: Record<string, unknown>): string {
  const [thing = {}] = Object.values((body['payload'] ?? {}) as Record<string, Record<string, unknown>>)
  return String(thing['phone'] ?? thing['id'])
}
