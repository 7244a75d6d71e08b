import { Fragment } from 'react'

/** The name of an event or an action, in parts: it is broken between them where there is no room. */
export function DottedName({ name }: { name: string }) {
  return (
    <span className="mono">
      {name.split(/(?<=[._])/).map((part) => (
        <Fragment key={part}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </span>
  )
}
