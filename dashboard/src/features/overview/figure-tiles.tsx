import type { ReactNode } from 'react'
import { usdText } from '../../components/text.ts'
import styles from './figure-tiles.module.css'
import type { Analytics } from './overview-queries.ts'
import { countText, minutesText, numberOf, scoreText, shareText, waitText } from './overview-text.ts'

type FigureTilesProps = {
  totals: Analytics['totals']
  /** Makes a link to the calls of a figure. */
  callsLink?: (text: string) => ReactNode
  /** Tasks that should be done by now; undefined: not known yet. */
  late: number | undefined
  lateLink?: (text: string) => ReactNode
}

/** The figures of the whole range, beside each other. */
export function FigureTiles({ totals, callsLink, late, lateLink }: FigureTilesProps) {
  const { calls, answered, answer_rate, response_p50_ms, response_p95_ms, responses, avg_score, scored } = totals
  const calledText = countText(calls)
  const lateText = late === undefined ? '…' : countText(late)
  return (
    <dl className={styles.tiles}>
      <Tile name="Calls" note={`${countText(answered)} answered`}>
        {callsLink ? callsLink(calledText) : calledText}
      </Tile>
      <Tile name="Answer rate" note="of all calls">
        {shareText(answer_rate)}
      </Tile>
      <Tile name="Response, median" note={`of ${numberOf(responses, 'answer')}`}>
        {waitText(response_p50_ms)}
      </Tile>
      <Tile name="Response, 95%" note="are no slower">
        {waitText(response_p95_ms)}
      </Tile>
      <Tile name="Average score" note={`of ${countText(scored)} scored`}>
        {scoreText(avg_score)}
      </Tile>
      <Tile name="Minutes" note={numberOf(totals.interruptions, 'interruption')}>
        {minutesText(totals.minutes)}
      </Tile>
      <Tile name="Cost" note={`of ${numberOf(totals.costed, 'call')}`}>
        {usdText(totals.cost_usd)}
      </Tile>
      <Tile name="Late tasks" note="should be done by now" isBad={(late ?? 0) > 0}>
        {lateLink ? lateLink(lateText) : lateText}
      </Tile>
    </dl>
  )
}

type TileProps = { name: string; note: string; isBad?: boolean; children: ReactNode }

function Tile({ name, note, isBad = false, children }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt className={styles.name}>{name}</dt>
      <dd className={`${styles.value} ${isBad ? styles.bad : ''}`}>{children}</dd>
      <dd className={styles.note}>{note}</dd>
    </div>
  )
}
