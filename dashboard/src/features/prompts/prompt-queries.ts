import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'

/** A text that tenants can put before the instructions of their agents. */
export type Prompt = Answer<'/api/v1/admin/prompts/{key}', 'get'>['prompt']

export const PROMPTS_KEY = ['prompts']

/** One page of the prompts. */
export async function listPrompts(cursor: string | undefined): Promise<ListPart<Prompt>> {
  const answer = await answerOf(api.GET('/api/v1/admin/prompts', { params: { query: { cursor } } }))
  return { rows: answer.prompts, next: answer.next_cursor }
}

/** Writes a prompt, whether it is there or not. */
export async function putPrompt({ key, ...body }: { key: string; text: string; description: string }): Promise<void> {
  await answerOf(api.PUT('/api/v1/admin/prompts/{key}', { params: { path: { key } }, body }))
}

export async function deletePrompt(key: string): Promise<void> {
  await answerOf(api.DELETE('/api/v1/admin/prompts/{key}', { params: { path: { key } } }))
}
