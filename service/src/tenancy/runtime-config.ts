import { type Static, Type } from 'typebox'
import { nullable, strict } from '../platform/http/schemas.ts'
import { AudioOutput, Telephony, type TenantDocument } from './tenant-document.ts'
import { HttpUrl, Label } from './tenant-values.ts'

/** What administrators change while calls go on. What is left out stays as it is; null takes the setting away. */
export const RuntimeConfig = strict({
  model: Type.Optional(nullable(Label('The realtime model.'))),
  voice: Type.Optional(nullable(Label('The voice.'))),
  system_prompt_key: Type.Optional(nullable(Label('A stored prompt that comes before the instructions.'))),
  telephony: Type.Optional(nullable(Telephony)),
  audio_output: Type.Optional(nullable(AudioOutput)),
  webhook_url: Type.Optional(nullable(HttpUrl)),
})
export type RuntimeConfig = Static<typeof RuntimeConfig>

/** What of a document is runtime configuration; null is what it does not set. Secrets are as in the document. */
export function runtimeConfigOf({ telephony, audio_output, webhook, ...document }: TenantDocument) {
  const { model = null, voice = null, system_prompt_key = null } = document
  const settings = { model, voice, system_prompt_key, telephony: telephony ?? null }
  return { ...settings, audio_output: audio_output ?? null, webhook_url: webhook?.url ?? null }
}

/** The document with these settings: members of `telephony` and `audio_output` one by one, the rest as wholes. */
export function withRuntimeConfig(document: TenantDocument, sent: RuntimeConfig): TenantDocument {
  const { telephony, audio_output, webhook_url, ...plain } = sent
  const { telephony: account, audio_output: audio, webhook, ...rest } = document
  const url = webhook_url === undefined ? webhook?.url : webhook_url
  const settings = { model: rest.model, voice: rest.voice, system_prompt_key: rest.system_prompt_key, ...plain }
  return withoutUnset({
    ...rest,
    ...settings,
    telephony: merged(account, telephony),
    audio_output: merged(audio, audio_output),
    webhook: url ? { ...webhook, url } : null,
  })
}

/** Null takes the whole away, nothing leaves it as it is. */
function merged<Whole extends object>(stored: Whole | null | undefined, sent: Whole | null | undefined) {
  return sent ? { ...stored, ...sent } : sent === undefined ? stored : null
}

/** What is not set is left out, so that taking back what was given changes nothing, the ETag neither. */
function withoutUnset(document: { [Name in keyof TenantDocument]: TenantDocument[Name] | null | undefined }) {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value != null)) as TenantDocument
}
