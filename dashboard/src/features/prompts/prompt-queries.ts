import type { Answer } from '../../api/answers.ts'
import { answerOf, api } from '../../api/client.ts'
import { asTaken } from '../../api/failure.ts'
import type { ListPart } from '../../components/list-part.ts'

/** A text that tenants can put before the instructions of their agents. */
export type Prompt = Answer<'/api/v1/admin/prompts/{key}', 'get'>['prompt']

export const PROMPTS_KEY = ['prompts']

/** One page of the prompts. */
export async function listPrompts(cursor: string | undefined): Promise<ListPart<Prompt>> {
  const answer = await answerOf(api.GET('/api/v1/admin/prompts', { params: { query: { cursor } } }))
  return { rows: answer.prompts, next: answer.next_cursor }
}

/** One prompt as it is now. @throws ApiFailure when there is none. */
export async function readPrompt(key: string): Promise<Prompt> {
  return (await answerOf(api.GET('/api/v1/admin/prompts/{key}', { params: { path: { key } } }))).prompt
}

/** What somebody writes of a prompt. */
export type PromptTexts = Pick<Prompt, 'key' | 'text' | 'description'>

/** Writes a prompt over the one that has this tag; null: only where there is none of its key. Else a 412. */
export async function putPrompt({ key, ...body }: PromptTexts, over: string | null): Promise<void> {
  const header = over === null ? { 'if-none-match': '*' } : { 'if-match': over }
  const put = answerOf(api.PUT('/api/v1/admin/prompts/{key}', { params: { path: { key }, header }, body }))
  await (over === null ? put.catch((error: unknown) => asTaken(error, '/body/key')) : put)
}

export async function deletePrompt(key: string): Promise<void> {
  await answerOf(api.DELETE('/api/v1/admin/prompts/{key}', { params: { path: { key } } }))
}
