/** Why nobody is called by voice. */
export const NO_VOICE =
  'No agent can be called by voice here: set OPENAI_API_KEY, for the realtime model and for the voice of callers.'
