import { tones } from '../tones.ts'

/** What the beep is called where other audio has the id of an answer and of an item: no model knows of it. */
export const BEEP_ID = 'recording-beep'

/** The tone that tells the caller of the recording, as base64 µ-law: at a fifth of full scale, plain and not startling. */
export const BEEP = tones([{ hz: [1_000], ms: 200 }], 6_500)
