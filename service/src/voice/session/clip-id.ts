const CLIP = 'clip-'

/** The id of a clip that is played: the `count`th of what is ours in the conversation. */
export function clipId(count: number): string {
  return `${CLIP}${count}`
}

/** Whether audio of this id is a clip: the agent's words, and no item of a model's. */
export function isClip(itemId: string): boolean {
  return itemId.startsWith(CLIP)
}
