import { headerText, setting, socketAddress } from './config-values.ts'

/** Another realtime model, for calls whose own stays away. */
export const FALLBACK_SETTINGS = {
  fallbackUrl: setting({
    name: 'REALTIME_FALLBACK_URL',
    shownDefault: 'that of OPENAI_REALTIME_URL',
    meaning:
      "Where a call goes on whose realtime model was lost three times in ten seconds or ten times in a minute, or refuses it for good: any server that speaks the same protocol. Without this, REALTIME_FALLBACK_API_KEY and REALTIME_FALLBACK_MODEL there is none: the call's own is tried again for 15 s, then the caller hears an apology.",
    read: (text) => (text === undefined ? null : socketAddress(text)),
  }),
  fallbackApiKey: setting({
    name: 'REALTIME_FALLBACK_API_KEY',
    shownDefault: 'that of OPENAI_API_KEY',
    meaning: 'Its key, which must be set where REALTIME_FALLBACK_URL is: the other one is for its own house.',
    read: headerText,
  }),
  fallbackModel: setting({
    name: 'REALTIME_FALLBACK_MODEL',
    shownDefault: "the call's own",
    meaning: 'Which model speaks there, whatever the agent and the tenant name.',
    read: (text) => text ?? null,
  }),
}

type Values = { fallbackUrl?: string | null; fallbackApiKey?: string | null }

/** What is wrong between these settings, a sentence each. */
export function fallbackContradictions({ fallbackUrl, fallbackApiKey }: Values): string[] {
  if (!fallbackUrl || fallbackApiKey) return []
  return [
    'REALTIME_FALLBACK_API_KEY must be set when REALTIME_FALLBACK_URL is: the key of another provider is not sent there.',
  ]
}
