import { type Carrier, type CarrierOptions, startCarrier } from './carrier/carrier.ts'
import { type Model, type ModelOptions, startModel } from './model/model.ts'
import { answerCarrierControl } from './scenario/carrier-control.ts'
import { makePhraseBook, type PhraseBook } from './speech/phrase-book.ts'
import { makeSpeech, type Speech } from './speech/speech.ts'

/** How a simulator is started: its two providers' options, the voice and the phrase book left out. */
export type SimulatorOptions = {
  carrier: Omit<CarrierOptions, 'speech' | 'control'>
  model: Omit<ModelOptions, 'speech' | 'phraseBook'>
}

/** A carrier and a model that share one voice, so that the model can know the words of the carrier's callers. */
export type Simulator = {
  readonly carrier: Carrier
  readonly model: Model
  readonly speech: Speech
  readonly phraseBook: PhraseBook
  /** Stops everything. Safe to call twice. */
  close(): Promise<void>
}

/** Starts both. Rejects, with nothing left running, when a port is taken. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const phraseBook = makePhraseBook()
  const speech = makeSpeech({ phraseBook })
  const model = await startModel({ ...options.model, speech, phraseBook }).catch(async (error: unknown) => {
    await speech.close()
    throw error
  })
  const withControl = { ...options.carrier, speech, control: answerCarrierControl }
  const carrier = await startCarrier(withControl).catch(async (error: unknown) => {
    await Promise.all([model.close(), speech.close()])
    throw error
  })
  const close = async () => {
    // The carrier first: its calls end as calls do, and the bridge closes its sessions by itself.
    await carrier.close()
    await model.close()
    await speech.close()
  }
  return { carrier, model, speech, phraseBook, close }
}
