import type { Clock } from '../../kernel/clock.ts'
import { AppError, sentenceOf } from '../../kernel/errors.ts'
import type { TenantId } from '../../kernel/ids.ts'
import { inLanes } from '../../kernel/in-lanes.ts'
import type { Log } from '../../platform/log.ts'
import type { TenantRuntime } from '../../tenancy/tenant-runtime.ts'
import type { CallbackTaskId } from '../callback-task-store.ts'

/** What a sweep is asked for. `tenantId`: the only tenant to look at; null for all. `limitRows`: of tasks, over all tenants. */
export type SweepAsk = { tenantId: TenantId | null; limitRows: number; emitWebhooks: boolean }

/** What became of a task, in the words of the API. */
export type SweepItem = { tenant_id: TenantId; task_id: CallbackTaskId; queue_key: string; outcome: string } & Record<
  string,
  unknown
>

/** What could not be done for a technical reason; without a task, of a whole tenant. */
export type SweepFailure = { tenant_id: TenantId; task_id?: CallbackTaskId; error: string }

/** What every sweep comes to. */
export type SweepResult = {
  attempted_tenants: number
  evaluated_tenants: number
  items: SweepItem[]
  failures: SweepFailure[]
}

/** A task with something to do. */
export type SweptTask = { id: CallbackTaskId; queue_key: string }

/** Which tasks of a tenant: as many, none of those. */
export type TaskPage = { limit: number; except: CallbackTaskId[] }

/** One kind of thing that a sweep does. */
export type SweepWork<Task extends SweptTask> = {
  /** Tenants at a time. */
  lanes: number
  /** Those who may have something to do. */
  tenants(): Promise<TenantId[]>
  /** The tasks of a tenant with which there is something to do, the most pressing first. */
  tasks(tenant: TenantRuntime, page: TaskPage): Promise<Task[]>
  /** Does it; null when there was nothing to do any more, or somebody else is at it. */
  take(tenant: TenantRuntime, task: Task): Promise<Taken | null>
  /** Whether what went wrong with a task would with the tenant's others too. */
  endsTenant?(error: unknown): boolean
}

/** What was done, and how many webhooks tell of it. `isLast`: with the tenant's other tasks it would be the same. */
export type Taken = { item: Omit<SweepItem, 'tenant_id' | 'task_id' | 'queue_key'>; webhooks: number; isLast?: boolean }

export type SweepDeps = {
  clock: Clock
  log: Pick<Log, 'error'>
  tenants: { get(tenantId: TenantId): Promise<TenantRuntime | null> }
  /** Whether the service stops: then nothing more is begun. */
  isStopping: () => boolean
}

/** `has_more`: it may have more than it was given. `passed_over`: nothing was left for it, as others had all that there is for themselves. */
type TenantEnd = 'done' | 'has_more' | 'passed_over'

/** So often in a row is a part of the tasks gone through of which nothing comes: there may be no end of them. */
const MOST_IN_VAIN = 2
/** Somebody waits for the answer: nothing is begun after this. */
const BEGINS_WITHIN_MS = 20_000

/**
 * One sweep on its way: who was looked at, what was done and what failed. What fails with one task, or with one tenant, holds
 * up no other one.
 */
export class SweepRun {
  readonly items: SweepItem[] = []
  readonly failures: SweepFailure[] = []
  webhooks = 0
  readonly #deps: SweepDeps
  readonly #ask: SweepAsk
  readonly #attempted = new Set<TenantId>()
  readonly #notEvaluated = new Set<TenantId>()
  readonly #endsMs: number
  #leftRows: number

  constructor(deps: SweepDeps, ask: SweepAsk) {
    this.#deps = deps
    this.#ask = ask
    this.#leftRows = ask.limitRows
    this.#endsMs = deps.clock.monotonicMs() + BEGINS_WITHIN_MS
  }

  /** How many items have this outcome. */
  count(outcome: string): number {
    return this.items.filter((item) => item.outcome === outcome).length
  }

  /** Tasks with which there was something to do. */
  get candidates(): number {
    return this.items.length + this.failures.filter(({ task_id }) => task_id !== undefined).length
  }

  get result(): SweepResult {
    const { items, failures } = this
    const evaluated_tenants = this.#attempted.size - this.#notEvaluated.size
    return { attempted_tenants: this.#attempted.size, evaluated_tenants, items, failures }
  }

  /**
   * Does one kind of thing wherever there is something to do, as far as the limit goes: every tenant has an equal share of it,
   * and what some do not need is for those who have more, and for those for whom nothing was left while others were being looked at.
   *
   * @throws what the database throws when it cannot be asked for tenants.
   */
  async goThrough<Task extends SweptTask>(work: SweepWork<Task>): Promise<void> {
    if (this.#isOver) return
    const { tenantId } = this.#ask
    const tenantIds = tenantId === null ? this.#inTurn(await work.tenants()) : [tenantId]
    const tried = new Map(tenantIds.map((id) => [id, new Set<CallbackTaskId>()]))
    const goThroughAll = async (ids: TenantId[]) => {
      const limit = Math.ceil(this.#leftRows / Math.max(1, ids.length))
      const ends = await inLanes(ids, work.lanes, (id) =>
        this.#goThroughTenant(work, id, { limit, tried: tried.get(id) ?? new Set() }),
      )
      const those = (end: TenantEnd) => ids.filter((_id, index) => ends[index] === end)
      return { passedOver: those('passed_over'), hasMore: those('has_more') }
    }
    const hasMore: TenantId[] = []
    let inVain = 0
    for (let ids = tenantIds; ids.length > 0 && inVain < MOST_IN_VAIN && !this.#isOver; ) {
      const before = this.#leftRows
      const ends = await goThroughAll(ids)
      hasMore.push(...ends.hasMore)
      const isSomebodyPassedOver = ends.passedOver.length > 0
      if (this.#leftRows < before) inVain = 0
      else if (!isSomebodyPassedOver) inVain += 1
      // Whoever got nothing comes before those who have more.
      ids = isSomebodyPassedOver ? ends.passedOver : hasMore.splice(0)
    }
  }

  /** Each second another one comes first: where there is not enough for all, nobody is always the one who gets nothing. */
  #inTurn(tenantIds: TenantId[]): TenantId[] {
    const first = Math.floor(this.#deps.clock.now() / 1_000) % Math.max(1, tenantIds.length)
    return [...tenantIds.slice(first), ...tenantIds.slice(0, first)]
  }

  get #isOver(): boolean {
    return this.#leftRows <= 0 || this.#deps.isStopping() || this.#deps.clock.monotonicMs() >= this.#endsMs
  }

  async #goThroughTenant<Task extends SweptTask>(
    work: SweepWork<Task>,
    tenantId: TenantId,
    { limit, tried }: { limit: number; tried: Set<CallbackTaskId> },
  ): Promise<TenantEnd> {
    if (this.#isOver) return this.#leftRows <= 0 ? 'passed_over' : 'done'
    this.#attempted.add(tenantId)
    // Taken before anything is waited for: others are on their way in other lanes.
    const reserved = Math.min(limit, this.#leftRows)
    this.#leftRows -= reserved
    let spent = 0
    try {
      const tenant = await this.#deps.tenants.get(tenantId)
      if (!tenant) return 'done'
      const tasks = await work.tasks(tenant, { limit: reserved, except: [...tried] })
      for (const task of tasks) {
        if (this.#deps.isStopping() || this.#deps.clock.monotonicMs() >= this.#endsMs) return 'done'
        tried.add(task.id)
        const done = await this.#take(work, tenant, task)
        if (done.isSpent) spent += 1
        if (done.isLast) return 'done'
      }
      return tasks.length === reserved ? 'has_more' : 'done'
    } catch (err) {
      this.#fail(tenantId, null, err)
      this.#notEvaluated.add(tenantId)
      return 'done'
    } finally {
      this.#leftRows += reserved - spent
    }
  }

  async #take<Task extends SweptTask>(work: SweepWork<Task>, tenant: TenantRuntime, task: Task) {
    const { tenant_id } = tenant
    try {
      const taken = await work.take(tenant, task)
      if (!taken) return { isSpent: false, isLast: false }
      const { outcome, ...more } = taken.item
      this.items.push({ tenant_id, task_id: task.id, queue_key: task.queue_key, outcome, ...more } as SweepItem)
      this.webhooks += taken.webhooks
      return { isSpent: true, isLast: taken.isLast ?? false }
    } catch (err) {
      this.#fail(tenant_id, task.id, err)
      return { isSpent: true, isLast: work.endsTenant?.(err) ?? false }
    }
  }

  #fail(tenant_id: TenantId, task_id: CallbackTaskId | null, err: unknown): void {
    this.failures.push({ tenant_id, ...(task_id !== null && { task_id }), error: sentenceOf(err) })
    if (!(err instanceof AppError)) this.#deps.log.error({ tenant_id, task_id, err }, 'a sweep failed with something')
  }
}
