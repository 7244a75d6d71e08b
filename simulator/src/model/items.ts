/** One part of a message in the conversation. Audio itself never travels in events, only its transcript does. */
export type Content =
  | { type: 'input_text'; text: string }
  | { type: 'input_audio'; transcript?: string | null; audio?: string }
  | { type: 'input_image'; image_url: string }
  | { type: 'output_text'; text: string }
  | { type: 'output_audio'; transcript?: string; audio?: string }

/** Where an item stands: a response still writes it, it is whole, or it was cut short. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

type Common = { id: string; object: 'realtime.item'; status: ItemStatus }

/** What a message is in an answer of a model that reasons: said ahead, or the answer itself. */
export type Phase = 'commentary' | 'final_answer'

/** Something that was said, by any side. */
export type MessageItem = Common & {
  type: 'message'
  role: 'user' | 'assistant' | 'system'
  content: Content[]
  phase?: Phase
}
/** The model's wish to have a function called; `arguments` is JSON text. */
export type FunctionCallItem = Common & { type: 'function_call'; name: string; call_id: string; arguments: string }
/** What a function call gave. */
export type FunctionOutputItem = Common & { type: 'function_call_output'; call_id: string; output: string }

/** An item of the conversation as events show it. */
export type Item = MessageItem | FunctionCallItem | FunctionOutputItem

/** An item and what the server knows of it beside its wire shape. */
export type StoredItem = {
  item: Item
  /** The audio behind an `input_audio` or `output_audio` part: µ-law 8 kHz, whatever the wire format is. */
  audio: Uint8Array | null
}
