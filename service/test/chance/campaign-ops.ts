import { AGENT_KEYS } from './administering.ts'
import { type Asking, PHONES } from './asking.ts'
import { isoOf, type Model, type Op, type Predicted, type Row, refused, rowIn, tenantOf } from './model.ts'
import type { Answer, Json } from './world.ts'

const STRANGE = ['00000000-0000-7000-8000-000000000000', 'nothing']
const LATER = '2040-01-01T00:00:00.000Z'

export function createCampaign({ draw, tenant, actor }: Asking): Op {
  const { random } = draw
  const contacts = Array.from({ length: 1 + random.below(4) }, () => ({
    phone: random.pick([...PHONES, 'none']),
    metadata: { consent: true },
  }))
  const { body, isSound } = draw.body({
    name: { good: ['Spring', 'ü'], bad: ['', ' ', null, 'x'.repeat(201)], isNeeded: true },
    agent_key: { good: AGENT_KEYS, bad: ['', null], isNeeded: true },
    contacts: { good: [contacts], bad: [[], null, [{ phone: 5 }], [{ colour: 'red' }]], isNeeded: true },
    // Nobody is called while the run lasts.
    start_at: { good: [LATER], bad: ['soon', ''], isGiven: true },
    calling_hours: {
      good: [{ start: '09:00', end: '17:00' }, null],
      bad: [
        { start: '9', end: '17:00' },
        { start: '09:00', end: '09:00' },
      ],
    },
    ...{
      calls_per_second: { good: [0.01, 20], bad: [0, 21, null] },
      max_concurrent: { good: [1, 500], bad: [0, 501, 1.5] },
    },
    ...{
      max_attempts: { good: [1, 10], bad: [0, 11] },
      retry_minutes: { good: [[1], [30, 60]], bad: [[], [0], null] },
    },
    on_machine: { good: ['hang_up', null], bad: ['shout'] },
  })
  const drawnKey = random.chance(0.3) ? random.pick(['c1', 'c2']) : null
  return {
    ...{ route: 'POST /api/v1/campaigns', path: '/campaigns', body, tenant, actor },
    ...(drawnKey && { headers: { 'idempotency-key': drawnKey } }),
    predict: (model, answer) => (isSound ? created(model, answer, { tenant, body, key: drawnKey }) : refused(400)),
  }
}

type Creation = { tenant: string; body: Json; key: string | null }

function created(model: Model, answer: Answer, { tenant, body, key }: Creation): Predicted {
  const of = tenantOf(model, tenant)
  const earlier = key === null ? undefined : of.campaignKeys[key]
  const sent = JSON.stringify(Object.entries(body).sort())
  if (earlier) {
    if (earlier.body !== sent) return refused(422)
    return { status: 200, row: ['campaign', of.campaigns.find(({ id }) => id === earlier.id) ?? null] }
  }
  const agent = of.agents.find(({ agent_key }) => agent_key === body['agent_key'])
  const isSpoken = of.versions.some((each) => each['agent_id'] === agent?.id && each['status'] === 'published')
  if (!isSpoken) return refused(400)
  const phones = new Set((body['contacts'] as Json[]).map(({ phone }) => phone).filter((phone) => phone !== 'none'))
  if (phones.size === 0) return refused(400)
  const { id } = rowIn(answer, 'campaign')
  const now = isoOf(model)
  const { contacts: _contacts, ...given } = body
  const campaign: Row = {
    ...{
      id,
      tenant_id: tenant,
      from: null,
      status: 'draft',
      status_reason: null,
      calling_hours: null,
      calls_per_second: 1,
    },
    ...{ max_concurrent: 5, max_attempts: 3, retry_minutes: [30, 60, 120], on_machine: null, ...given },
    contacts: {
      total: phones.size,
      pending: phones.size,
      dialing: 0,
      completed: 0,
      failed: 0,
      refused: 0,
      cancelled: 0,
    },
    ...{ created_at: now, started_at: null, completed_at: null, updated_at: now, '~phones': [...phones] },
  }
  of.campaigns.push(campaign)
  if (key !== null) of.campaignKeys[key] = { body: sent, id }
  return { status: 200, row: ['campaign', campaign] }
}

const MOVES: Record<string, { from: string[]; to: string }> = {
  start: { from: ['draft', 'paused'], to: 'running' },
  pause: { from: ['running'], to: 'paused' },
  cancel: { from: ['draft', 'running', 'paused'], to: 'cancelled' },
}

export function moveCampaign({ draw, model, tenant, actor }: Asking): Op {
  const move = draw.random.pick(['start', 'start', 'pause', 'cancel'])
  const others = Object.entries(model.tenants).flatMap(([name, of]) =>
    name === tenant ? [] : of.campaigns.map(({ id }) => id),
  )
  const id = draw.known(
    tenantOf(model, tenant).campaigns.map((each) => each.id),
    [...STRANGE, ...others],
  )
  return {
    ...{ route: `POST /api/v1/campaigns/:id/${move}`, path: `/campaigns/${id}/${move}`, tenant, actor },
    predict(later) {
      const campaign = tenantOf(later, tenant).campaigns.find((each) => each.id === id)
      if (!campaign) return refused(404)
      const { from, to } = MOVES[move] as { from: string[]; to: string }
      if (!from.includes(String(campaign['status']))) return refused(409)
      const now = isoOf(later)
      const isFirst = move === 'start' && campaign['started_at'] === null
      Object.assign(
        campaign,
        { status: to, updated_at: now },
        isFirst && { started_at: now },
        move === 'cancel' && { completed_at: now },
      )
      const counts = campaign['contacts'] as Record<string, number>
      if (move === 'cancel') campaign['contacts'] = { ...counts, cancelled: counts['pending'], pending: 0 }
      return {
        status: 200,
        row: ['campaign', campaign],
        told: isFirst ? [{ kind: 'event', name: 'campaign.started', of: id }] : [],
      }
    },
  }
}
