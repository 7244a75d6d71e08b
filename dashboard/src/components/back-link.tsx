import { createLink, type LinkComponent, useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes } from 'react'
import styles from './back-link.module.css'
import { Icon } from './icon.tsx'
import { useLastLook } from './last-looks.tsx'

function BackAnchor({ children, className: _class, ...props }: AnchorHTMLAttributes<HTMLAnchorElement>) {
  return (
    <a {...props} className={styles.back}>
      <Icon name="back" size={16} />
      {children}
    </a>
  )
}

const RoutedLink = createLink(BackAnchor)

/** Leads from a thing to the list that it stands in, with the filters that this had when it was looked at last. */
export const BackLink: LinkComponent<typeof BackAnchor> = (props) => {
  const { pathname } = useRouter().buildLocation(props as never)
  const search = useLastLook(pathname)
  return <RoutedLink {...props} {...(search && { search: search as never })} />
}
