import { UnstyledButton } from '@mantine/core'
import type { ComponentPropsWithRef } from 'react'
import { usePerson } from '../api/session.ts'
import styles from './person-menu.module.css'

/** The first letter of whoever is logged in. */
export function PersonButton(props: ComponentPropsWithRef<'button'>) {
  const { name } = usePerson()
  return (
    <UnstyledButton {...props} className={styles.person} aria-label={`Logged in as ${name}`}>
      {name.charAt(0).toUpperCase()}
    </UnstyledButton>
  )
}
