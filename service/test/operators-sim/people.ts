import type { VirtualNode } from './nodes.ts'

/** What a client was told, or may have been done for it although nobody told it so. */
export type Ledger = {
  /** Tasks whose creation was acknowledged. */
  created: Map<string, { tenant: string }>
  /** Creations of which nothing was heard. */
  createdUnheard: number
  /** Each act has an operator of its own: who, and what they did to which task (null: unknown). */
  acts: Map<string, { tenant: string; action: string; taskId: string | null; isTold: boolean }>
  /** Answers that nobody promised. */
  oddities: string[]
}

type Task = { id: string; status: string; assigned_to: string | null }
type Answer = { status: number; body: { task?: Task | null; code?: string } & Record<string, unknown> }

/** Who asks: the tenants' keys, and the administrator's. */
export type Keys = { admin: string; tokens: Map<string, string> }

/** What all acts of a step need. */
export type Scene = { keys: Keys; ledger: Ledger; chance: () => number; node: VirtualNode; nowMs: number }

const HOUR_MS = 3_600_000
const PROMISED = new Set([200, 400, 404, 409, 429, 503])

/** Asks a node; null when it is gone before it answers. */
export async function ask(
  node: VirtualNode,
  headers: Record<string, string>,
  { method, path, body }: { method: string; path: string; body?: object },
): Promise<Answer | null> {
  const json = body && { body: JSON.stringify(body) }
  const type: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
  try {
    const response = await fetch(`${node.address}/api/v1${path}`, { method, headers: { ...headers, ...type }, ...json })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  } catch {
    return null
  }
}

const asTenant = ({ tokens }: Keys, tenant: string) => ({ authorization: `Bearer ${tokens.get(tenant)}` })
export const asAdmin = ({ admin }: Keys) => ({ 'x-admin-key': admin })

/** A task comes in. */
export async function createTask(scene: Scene, tenant: string, body: object): Promise<void> {
  const { node, keys, ledger } = scene
  const answer = await ask(node, asTenant(keys, tenant), { method: 'POST', path: '/callback-tasks', body })
  const id = answer?.body.task?.id
  if (answer?.status === 200 && id) ledger.created.set(id, { tenant })
  else ledger.createdUnheard += 1
  noteOddity(ledger, 'create', answer)
}

/** Somebody of the tenant takes the next task, or does something to one that there is. */
export async function actOnce(scene: Scene, tenant: string): Promise<void> {
  const { chance, ledger } = scene
  if (chance() < 0.4) return claimNext(scene, tenant)
  const ids = [...ledger.created].filter(([, { tenant: owner }]) => owner === tenant).map(([id]) => id)
  const id = ids.at(-1 - Math.floor(chance() * Math.min(ids.length, 40)))
  if (id === undefined) return
  const operator = newOperator(ledger)
  const [action, body] = someAct(scene, operator)
  const answer = await act(scene, tenant, { id, action, body })
  // A 2xx without a change is one too: `acknowledge` changes no status.
  note(ledger, operator, { tenant, action, taskId: id, isTold: answer?.status === 200 }, answer)
}

async function claimNext({ node, keys, ledger }: Scene, tenant: string): Promise<void> {
  const operator = newOperator(ledger)
  const path = '/operator-queues/sales/claim-next'
  const answer = await ask(node, asTenant(keys, tenant), { method: 'POST', path, body: { operator } })
  const taskId = answer?.body.task?.id ?? null
  if (answer?.status === 200 && taskId === null) return
  note(ledger, operator, { tenant, action: 'claim', taskId, isTold: answer?.status === 200 }, answer)
}

function act(
  { node, keys }: Scene,
  tenant: string,
  { id, action, body }: { id: string; action: string; body: object },
) {
  return ask(node, asTenant(keys, tenant), { method: 'POST', path: `/callback-tasks/${id}/${action}`, body })
}

function someAct({ chance, nowMs }: Scene, operator: string): [action: string, body: object] {
  const until = new Date(nowMs + (1 + chance() * 12) * HOUR_MS).toISOString()
  const acts: [share: number, action: string, body: object][] = [
    [0.3, 'complete', { disposition: 'resolved', operator }],
    [0.15, 'snooze', { until, reason: 'Later.', operator }],
    [0.1, 'release', { operator }],
    [0.1, 'claim', { operator }],
    [0.1, 'assign', { operator: 'somebody', by: operator }],
    [0.08, 'acknowledge', { operator }],
    [0.07, 'reopen', { operator }],
    [0.05, 'cancel', { operator }],
    [0.05, 'wake', { operator }],
  ]
  let left = chance()
  for (const [share, action, body] of acts) {
    left -= share
    if (left < 0) return [action, body]
  }
  return ['acknowledge', { operator }]
}

function newOperator({ acts }: Ledger): string {
  return `person-${acts.size + 1}`
}

function note(
  ledger: Ledger,
  operator: string,
  fact: Parameters<Ledger['acts']['set']>[1],
  answer: Answer | null,
): void {
  noteOddity(ledger, fact.action, answer)
  const isRefused = answer !== null && answer.status !== 200
  // A refusal has changed nothing: nothing may be found of it.
  ledger.acts.set(operator, isRefused ? { ...fact, action: 'none' } : fact)
}

function noteOddity(ledger: Ledger, what: string, answer: Answer | null): void {
  if (answer === null || PROMISED.has(answer.status)) return
  ledger.oddities.push(`${what} was answered with ${answer.status} ${JSON.stringify(answer.body)}`)
}
