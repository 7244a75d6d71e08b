/** A voice as OpenAI takes it: one that was made for the account goes by its id. */
export function openaiVoice(voice: string): string | { id: string } {
  return voice.startsWith('voice_') ? { id: voice } : voice
}
