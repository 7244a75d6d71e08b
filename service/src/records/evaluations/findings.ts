import type { Redactor } from '../../kernel/redaction/redact.ts'
import { ChatFault } from '../../platform/chat/port.ts'
import type { Db } from '../../platform/db/schema.ts'
import type { Log } from '../../platform/log.ts'
import type { ExtractionOutcome } from '../call-record.ts'
import type { Ask } from './asking.ts'
import { assess, NoAssessment, type Verdict } from './assessment.ts'
import { type Conversation, type JudgedAgent, NO_CRITERIA } from './conversation.ts'
import { hasEvaluationOfModel } from './evaluation-store.ts'
import { extract, NoExtraction, Unkeepable, UnusableSchema } from './extraction.ts'

/** What is to be written down of a session: null for what is there already, or not wanted; a sentence says why there is none. */
export type Findings = { verdict: Verdict | string | null; extraction: ExtractionOutcome | null }

/** Why a model finds nothing, whenever it is asked. */
export const REFUSED = "The chat model refused to read it: check the agent version's chat_model."

/** Nothing can be found in a conversation, for a reason in a sentence. */
export function nothingFound(reason: string): Findings {
  return { verdict: reason, extraction: { missing: reason } }
}

type Deps = {
  db: Db
  log: Pick<Log, 'info'>
  ask: Ask
  redactor: Redactor
  /** Writes a verdict down as soon as it is there where more is asked for: it is not lost when that is not answered. */
  keepVerdict(verdict: Verdict | string): Promise<void>
}

/** Has a model score a conversation, and take from it what its agent's version wants. @throws ChatFault as `ask` does. */
export async function findIn(deps: Deps, conversation: Conversation, agent: JudgedAgent): Promise<Findings> {
  const { tenant_id, id, extraction_status, qa_status } = conversation.session
  if (extraction_status !== 'pending') return { verdict: await verdictOn(deps, conversation, agent), extraction: null }
  // Before, when the rest was not answered; or somebody has had the model score it meanwhile.
  const isJudged = qa_status === 'not_scored' || (await hasEvaluationOfModel(deps.db, tenant_id, id))
  if (!isJudged) await deps.keepVerdict(await verdictOn(deps, conversation, agent))
  return { verdict: null, extraction: await takenFrom(deps, conversation, agent) }
}

/** What the model says; why it has not said anything that can be used, in a sentence. */
async function verdictOn(
  { ask, log }: Deps,
  conversation: Conversation,
  { criteria, chatModel }: JudgedAgent,
): Promise<Verdict | string> {
  if (criteria.length === 0) return NO_CRITERIA
  try {
    return await assess(ask, { criteria, chatModel, conversation })
  } catch (err) {
    if (isRefusal(err)) return refused(log, conversation, err)
    if (!(err instanceof NoAssessment)) throw err
    log.info({ ...namesOf(conversation), err }, 'a chat model answered with no assessment')
    return 'The chat model answered twice with something that is no assessment.'
  }
}

/** What the model takes from it; why nothing that can be used, in a sentence. */
async function takenFrom(
  { ask, log, redactor }: Deps,
  conversation: Conversation,
  { extraction: schema, chatModel }: JudgedAgent,
): Promise<ExtractionOutcome> {
  if (schema === null)
    return { missing: 'The agent version that had the call last asks for none, or is not there any more.' }
  try {
    return { extraction: await extract(ask, { schema, chatModel, conversation, redactor }) }
  } catch (err) {
    if (isRefusal(err)) return { missing: refused(log, conversation, err) }
    if (err instanceof Unkeepable)
      return { missing: `Without personal data it does not fit the schema: ${err.message}` }
    if (err instanceof UnusableSchema) return { missing: unusable(log, conversation, err) }
    if (!(err instanceof NoExtraction)) throw err
    log.info(namesOf(conversation), 'a chat model answered twice with what does not fit a schema')
    return { missing: `The chat model answered twice with something that does not fit the schema: ${err.message}` }
  }
}

function isRefusal(err: unknown): err is ChatFault {
  return err instanceof ChatFault && err.isRefusal
}

/** To ask again would hold up the sessions of others, whose models answer. */
function refused(log: Deps['log'], conversation: Conversation, err: ChatFault): string {
  log.info({ ...namesOf(conversation), err }, 'a chat model refused to read a session')
  return REFUSED
}

function unusable(log: Deps['log'], conversation: Conversation, err: UnusableSchema): string {
  log.info({ ...namesOf(conversation), err }, 'a schema that is to be filled in cannot be used')
  return `Its schema cannot be used, and no chat model was asked to fill it in: ${err.message}.`
}

function namesOf({ session: { tenant_id, id: voice_session_id } }: Conversation) {
  return { tenant_id, voice_session_id }
}
