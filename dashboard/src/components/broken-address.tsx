import { Fragment } from 'react'
import styles from './broken-address.module.css'

/** An e-mail address, or another name of somebody. It is broken between its words, where there is room for those. */
export function BrokenAddress({ address }: { address: string }) {
  return (
    <span className={styles.address}>
      {address.split(/(?<=[.@])/).map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts stay where they are
        <Fragment key={at}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </span>
  )
}
