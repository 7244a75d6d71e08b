/** Writing that has no blanks between its words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. */
export const WITHOUT_BLANKS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
