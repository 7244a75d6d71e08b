import { type Asking, BAD_PHONES, PHONES, told, UNWANTED } from './asking.ts'
import { ANY, isoOf, type Model, type Op, type Row, refused, type Told, tenantOf } from './model.ts'

const AWAKE = { snoozed_until: null, snooze_reason: null }

/** A task that would wait again for a number that must not be called is cancelled. */
export function cancelUnwanted(model: Model, tenant: string, task: Row): Told[] {
  const isListed = tenantOf(model, tenant).dnc.some(
    ({ phone, created_at }) => phone === task['customer_phone'] && String(created_at) <= String(task[UNWANTED]),
  )
  if (!(task['status'] === 'open' || task['status'] === 'snoozed') || task[UNWANTED] === undefined || !isListed)
    return []
  Object.assign(task, { status: 'cancelled', disposition: 'do_not_call', ...AWAKE, updated_at: isoOf(model) })
  return [told('callback.task.cancelled', task.id)]
}

type Listing = { tenant: string; phone: string; reason: unknown; source: unknown; isWish?: boolean }

/** What listing a number does to it, and to the tasks that wait for it. */
export function list(model: Model, { tenant, phone, reason, source, isWish = false }: Listing): Told[] {
  const { dnc, tasks } = tenantOf(model, tenant)
  const known = dnc.find((entry) => entry['phone'] === phone)
  if (known) Object.assign(known, { ...(reason != null && { reason }), ...(source != null && { source }) })
  else dnc.push({ phone, reason: reason ?? null, source: source ?? null, created_at: isoOf(model) })
  const all: Told[] = known ? [] : [told('dnc.added', phone)]
  if (known && !isWish) return all
  for (const task of tasks.filter(({ customer_phone: own }) => own === phone)) {
    if (task['status'] === 'claimed') task[UNWANTED] = [isoOf(model), String(known?.['created_at'] ?? '')].sort().at(-1)
    if (task['status'] !== 'open' && task['status'] !== 'snoozed') continue
    Object.assign(task, { status: 'cancelled', disposition: 'do_not_call', ...AWAKE, updated_at: isoOf(model) })
    all.push(told('callback.task.cancelled', task.id))
  }
  return all
}

export function listNumber({ draw, tenant, actor }: Asking): Op {
  const { body, isSound } = draw.body({
    phone: { good: PHONES, bad: BAD_PHONES, isNeeded: true },
    reason: { good: ['A letter, "quoted".', '=1+1'], bad: ['', null, 'x'.repeat(2_001)] },
    source: { good: ['letter'], bad: ['', 'x'.repeat(201)] },
  })
  return {
    ...{ route: 'POST /api/v1/dnc', path: '/dnc', body, tenant, actor },
    predict(later) {
      if (!isSound) return refused(400)
      const phone = String(body['phone'])
      const all = list(later, { tenant, phone, reason: body['reason'], source: body['source'] })
      return {
        status: 200,
        row: ['entry', tenantOf(later, tenant).dnc.find((entry) => entry['phone'] === phone) ?? null],
        told: all,
      }
    },
  }
}

export function unlistNumber({ draw, tenant, actor }: Asking): Op {
  const phone = draw.random.pick([...PHONES, 'nothing'])
  return {
    ...{ route: 'DELETE /api/v1/dnc/:phone', path: `/dnc/${encodeURIComponent(phone)}`, tenant, actor },
    predict(later) {
      const { dnc } = tenantOf(later, tenant)
      const at = dnc.findIndex((entry) => entry['phone'] === phone)
      const [entry] = at < 0 ? [] : dnc.splice(at, 1)
      if (!entry) return refused(404)
      return {
        status: 200,
        row: ['entry', entry],
        told: [told('dnc.removed', phone), { kind: 'audit', name: 'dnc.removed', of: ANY }],
      }
    },
  }
}

/** Lines of a list of numbers: the number as it stands there, a reason, and whether that line is sound. */
const LINES: [phone: string, reason: string, isSound: boolean][] = [
  ...PHONES.map((phone): [string, string, boolean] => [phone, 'A letter.', true]),
  ...[
    ['+12025550160', '', true] as [string, string, boolean],
    ['"+12025550161"', '"a ""b"", c"', true] as [string, string, boolean],
  ],
  ...(['12025550160', '', '+4402079460018'] as const).map((phone): [string, string, boolean] => [phone, 'x', false]),
]

export function importNumbers({ draw, tenant, actor }: Asking): Op {
  const { random } = draw
  const lines = Array.from({ length: random.below(5) }, () => random.pick(LINES))
  const head = random.chance(0.1) ? 'number,reason' : 'phone,reason'
  const body = [head, ...lines.map(([phone, reason]) => `${phone},${reason}`)].join('\r\n')
  return {
    ...{ route: 'POST /api/v1/dnc/import', path: '/dnc/import', body, tenant, actor },
    predict(model) {
      if (head !== 'phone,reason') return refused(400)
      const { dnc } = tenantOf(model, tenant)
      const listed: Told[] = []
      let duplicates = 0
      for (const [text, said, isSound] of lines) {
        if (!isSound) continue
        const phone = text.replaceAll('"', '')
        if (dnc.some((entry) => entry['phone'] === phone)) duplicates += 1
        else {
          dnc.push({
            phone,
            reason: said.startsWith('"') ? 'a "b", c' : said || null,
            source: 'import',
            created_at: isoOf(model),
          })
          listed.push(told('dnc.added', phone))
        }
      }
      const rejected = lines.filter(([, , isSound]) => !isSound).length
      return { status: 200, told: listed, counts: { imported: listed.length, duplicates, rejected } }
    },
  }
}
