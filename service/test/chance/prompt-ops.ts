import { audited, ETAG } from './administering.ts'
import type { Asking } from './asking.ts'
import { isoOf, type Op, type Row, refused, rowIn } from './model.ts'

const PROMPTS = ['house', 'House', 'a.b-c_1']

export function putPrompt({ draw, model, actor }: Asking): Op {
  const key = draw.random.pick(PROMPTS)
  const known = model.prompts.find((each) => each['key'] === key)
  const tags = [null, null, '*', '"stale"', known?.[ETAG] ?? null] as (string | null)[]
  const [tag, isNew] = [draw.random.pick(tags), draw.random.chance(0.2)]
  const { body, isSound } = draw.body({
    text: { good: ['Be brief.', 'ü {{caller}}'], bad: ['', null, 'x'.repeat(32_001)], isNeeded: true },
    description: { good: ['', 'House rules.'], bad: [null, 'x'.repeat(2_001)] },
  })
  const headers = { ...(tag !== null && { 'if-match': tag }), ...(isNew && { 'if-none-match': '*' }) }
  return {
    ...{ route: 'PUT /api/v1/admin/prompts/:key', path: `/admin/prompts/${key}`, body, headers, tenant: null, actor },
    predict(later, answer) {
      if (!isSound) return refused(400)
      const before = later.prompts.find((each) => each['key'] === key)
      if (tag !== null && !(before && (tag === '*' || tag === before[ETAG]))) return refused(412)
      if (isNew && before) return refused(412)
      const now = isoOf(later)
      const prompt: Row = before ?? { id: key, key, created_at: now }
      if (!before) later.prompts.push(prompt)
      Object.assign(prompt, {
        text: body['text'],
        description: body['description'] ?? '',
        etag: rowIn(answer, 'prompt')['etag'],
        updated_at: now,
      })
      const { id: _id, ...shown } = prompt
      return { status: 200, row: ['prompt', shown], told: [audited(before ? 'prompt.changed' : 'prompt.created', key)] }
    },
  }
}

export function deletePrompt({ draw, actor }: Asking): Op {
  const key = draw.random.pick([...PROMPTS, 'unknown'])
  return {
    ...{ route: 'DELETE /api/v1/admin/prompts/:key', path: `/admin/prompts/${key}`, tenant: null, actor },
    predict(later) {
      const index = later.prompts.findIndex((each) => each['key'] === key)
      if (index < 0) return refused(404)
      const [{ id: _id, ...shown }] = later.prompts.splice(index, 1) as [Row]
      return { status: 200, row: ['prompt', shown], told: [audited('prompt.deleted', key)] }
    },
  }
}
