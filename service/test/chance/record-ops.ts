import { type Asking, PHONES } from './asking.ts'
import { isoOf, type Model, type Op, type Predicted, type Row, refused, rowIn, type Told, tenantOf } from './model.ts'
import type { Json } from './world.ts'

const STRANGE = ['00000000-0000-7000-8000-000000000000', 'nothing']
const event = (name: string, of: string): Told => ({ kind: 'event', name, of })
const audited = (name: string, of: string): Told => ({ kind: 'audit', name, of })
/** Who called in the calls that a world begins with. */
export const CALLER = '+12025550101'

function someSession({ draw, model, tenant }: Asking): string {
  const others = Object.entries(model.tenants).flatMap(([name, { sessions }]) =>
    name === tenant ? [] : sessions.map(({ id }) => id),
  )
  return draw.known(
    tenantOf(model, tenant).sessions.map(({ id }) => id),
    [...STRANGE, ...others],
  )
}

export function scoreSession(asking: Asking): Op {
  const { draw, tenant, actor } = asking
  const id = someSession(asking)
  const criterion = { name: 'tone', score: 0.5, reason: 'ü' }
  const { body, isSound } = draw.body({
    score: { good: [0, 0.79999, 0.8, 1], bad: [-0.1, 1.01, '1', null], isNeeded: true },
    criteria: { good: [[], [criterion]], bad: [null, [{ name: '', score: 1 }], [{ name: 'a' }]] },
    summary: { good: ['Fine.', '', null], bad: [5, 'x'.repeat(2_001)] },
  })
  return {
    ...{
      route: 'POST /api/v1/voice-sessions/:id/evaluations',
      path: `/voice-sessions/${id}/evaluations`,
      body,
      tenant,
      actor,
    },
    predict(model, answer) {
      if (!isSound) return refused(Object.keys(body).every((name) => body[name] === undefined) ? answer.status : 400)
      const of = tenantOf(model, tenant)
      const session = of.sessions.find((each) => each.id === id)
      if (!session) return refused(404)
      if (session['ended_at'] === null) return refused(409)
      const { id: evaluationId, agent_id } = rowIn(answer, 'evaluation')
      const score = Math.round(Number(body['score']) * 10_000) / 10_000
      const evaluation: Row = {
        ...{
          id: evaluationId,
          tenant_id: tenant,
          voice_session_id: id,
          agent_id,
          agent_version_id: session['agent_version_id'],
        },
        ...{ score, high_quality: score >= 0.8, criteria: body['criteria'] ?? [], summary: body['summary'] || null },
        ...{ source: 'human', created_at: isoOf(model) },
      }
      of.evaluations.push(evaluation)
      Object.assign(session, { qa: decisive(of.evaluations, id), qa_status: 'scored', qa_reason: null })
      const log = of.calls.find(({ call_sid }) => call_sid === session['call_sid'])
      const { summary } = evaluation
      if (summary !== null) for (const each of [session, log]) if (each) each['summary'] = summary
      return { status: 200, row: ['evaluation', evaluation], told: [event('voice.evaluation.completed', evaluationId)] }
    },
  }
}

/** What counts of a session's scores: the newest, and of those of one millisecond that of the last id. */
function decisive(evaluations: Row[], sessionId: string): Json {
  const [newest] = evaluations
    .filter(({ voice_session_id }) => voice_session_id === sessionId)
    .toSorted((one, other) => (orderOf(one) < orderOf(other) ? 1 : -1))
  const { score, high_quality, summary, criteria } = newest as Row
  return { score, high_quality, summary, criteria }
}

const orderOf = ({ created_at, id }: Row): string => `${created_at} ${id}`

export function eraseSession(asking: Asking): Op {
  const { tenant, actor } = asking
  const id = someSession(asking)
  return {
    ...{ route: 'DELETE /api/v1/voice-sessions/:id', path: `/voice-sessions/${id}`, tenant, actor },
    predict(model) {
      const of = tenantOf(model, tenant)
      const session = of.sessions.find((each) => each.id === id)
      if (!session) return refused(404)
      if (session['ended_at'] === null) return refused(409)
      return { status: 200, told: [audited('voice_session.erased', id)], untold: forget(model, tenant, session) }
    },
  }
}

/** The session is gone, and what was said in it is nowhere else. Returns what no event tells of any more. */
function forget(model: Model, tenant: string, { id, call_sid, stream_sid }: Row): string[] {
  const of = tenantOf(model, tenant)
  const untold = of.evaluations.filter(({ voice_session_id }) => voice_session_id === id).map((each) => each.id)
  of.sessions = of.sessions.filter((each) => each.id !== id)
  of.evaluations = of.evaluations.filter(({ voice_session_id }) => voice_session_id !== id)
  const log = of.calls.find((each) => each['call_sid'] === call_sid)
  if (log) Object.assign(log, { voice_session_id: null, summary: null, metadata: {} })
  for (const task of of.tasks) {
    if (task['call_sid'] !== call_sid && (stream_sid === null || task['stream_sid'] !== stream_sid)) continue
    const { external_ticket: ticket, consent } = task['metadata'] as Json
    const metadata = { ...(ticket !== undefined && { external_ticket: ticket }), ...(consent === true && { consent }) }
    Object.assign(task, { summary: null, notes: null, snooze_reason: null, metadata })
    untold.push(task.id)
  }
  return untold
}

export function eraseNumber({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body({
    phone: { good: [...PHONES, CALLER], bad: ['12', null, '+1202'], isNeeded: true },
  })
  return {
    ...{ route: 'POST /api/v1/erasures', path: '/erasures', body, tenant, actor },
    predict(model, answer) {
      if (!isSound) return refused(400)
      const phone = String(body['phone'])
      const of = tenantOf(model, tenant)
      if (of.routes.some(({ phone_number }) => phone_number === phone)) return refused(400)
      if (of.calls.some(({ from, to, ended_at }) => [from, to].includes(phone) && ended_at === null))
        return refused(409)
      return erased(model, { tenant, phone, id: rowIn(answer, 'erasure').id })
    },
  }
}

function erased(model: Model, { tenant, phone, id }: { tenant: string; phone: string; id: string }): Predicted {
  const of = tenantOf(model, tenant)
  const isOfNumber = ({ from, to }: Json) => from === phone || to === phone
  for (const session of of.sessions.filter((each) =>
    of.calls.some((log) => log['call_sid'] === each['call_sid'] && isOfNumber(log)),
  ))
    forget(model, tenant, session)
  for (const log of of.calls.filter(isOfNumber)) {
    const hidden = {
      from: log['from'] === phone ? '[erased]' : log['from'],
      to: log['to'] === phone ? '[erased]' : log['to'],
    }
    Object.assign(log, hidden, { summary: null, metadata: {}, error_message: null })
  }
  const gone = of.tasks.filter((task) => task['customer_phone'] === phone).map((task) => task.id)
  of.tasks = of.tasks.filter((task) => !gone.includes(task.id))
  for (const [key, made] of Object.entries(of.taskKeys)) if (gone.includes(made.id)) delete of.taskKeys[key]
  const told = [audited('number_erasure.requested', id), audited('number_erasure.completed', id)]
  for (const campaign of of.campaigns) told.push(...leave(model, campaign, phone))
  return { status: 200, told }
}

/** The number is on no list any more; a campaign that has begun and has nobody else left is over. */
function leave(model: Model, campaign: Row, phone: string): Told[] {
  const phones = campaign['~phones'] as string[]
  if (!phones.includes(phone)) return []
  campaign['~phones'] = phones.filter((each) => each !== phone)
  const counts = campaign['contacts'] as Record<string, number>
  const left = phones.length - 1
  const isCancelled = campaign['status'] === 'cancelled'
  campaign['contacts'] = { ...counts, total: left, ...(isCancelled ? { cancelled: left } : { pending: left }) }
  if (left > 0 || !['running', 'paused'].includes(String(campaign['status']))) return []
  const now = isoOf(model)
  Object.assign(campaign, { status: 'completed', completed_at: now, updated_at: now })
  return [event('campaign.completed', campaign.id)]
}
