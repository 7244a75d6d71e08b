import { assertNever } from '../../../kernel/errors.ts'
import type { ModelCommand } from '../port.ts'

/** What a model is told of a tool's result, at most. */
const MAX_OUTPUT_BYTES = 8 * 1024
const MIN_TRUNCATION_MS = 1

/**
 * A command as the frame of a client event. `sessionInstructions` are the session's own: what is given for one answer
 * replaces them at the server, and the agent must stay who it is.
 */
export function commandFrame(command: ModelCommand, sessionInstructions: string): Buffer {
  return Buffer.from(JSON.stringify(clientEvent(command, sessionInstructions)))
}

function clientEvent(command: ModelCommand, sessionInstructions: string): object {
  switch (command.type) {
    case 'respond':
      return { type: 'response.create', event_id: command.requestId, ...response(command, sessionInstructions) }
    case 'cancel':
      return { type: 'response.cancel', response_id: command.responseId }
    case 'truncate':
      return truncation(command.itemId, command.audioEndMs)
    case 'delete_item':
      return { type: 'conversation.item.delete', item_id: command.itemId }
    case 'system_message':
      return newItem({ type: 'message', role: 'system', content: [{ type: 'input_text', text: command.text }] })
    case 'tool_result':
      return newItem({ type: 'function_call_output', call_id: command.callId, output: cut(command.output) })
    default:
      return assertNever(command)
  }
}

function response(
  { instructions, output, noTools }: Extract<ModelCommand, { type: 'respond' }>,
  sessionInstructions: string,
): object {
  if (instructions === null && output === undefined && !noTools) return {}
  const whole = [sessionInstructions, instructions].filter((part) => part !== '').join('\n\n')
  return {
    response: {
      ...(instructions === null ? {} : { instructions: whole }),
      ...(output === undefined ? {} : { output_modalities: [output] }),
      ...(noTools && { tool_choice: 'none' }),
    },
  }
}

/** The server takes whole milliseconds, and none below one. */
function truncation(itemId: string, audioEndMs: number): object {
  const endMs = Math.max(MIN_TRUNCATION_MS, Math.floor(audioEndMs))
  return { type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: endMs }
}

function newItem(item: object): object {
  return { type: 'conversation.item.create', item }
}

/** At most 8 KiB of UTF-8, never half a character. */
function cut(output: string): string {
  const bytes = Buffer.from(output)
  if (bytes.length <= MAX_OUTPUT_BYTES) return output
  let end = MAX_OUTPUT_BYTES
  while (isInsideCharacter(bytes, end)) end--
  return bytes.toString('utf8', 0, end)
}

function isInsideCharacter(bytes: Buffer, at: number): boolean {
  return ((bytes[at] as number) & 0xc0) === 0x80
}
