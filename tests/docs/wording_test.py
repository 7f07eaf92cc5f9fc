"""The texts of the tree use the standard words, and the check of that can fail."""

import unittest

import wording


class Texts(unittest.TestCase):
    def test_no_source_or_page_has_a_word_to_avoid(self):
        found = list(wording.findings())
        self.assertEqual([], found, "\n" + "\n".join(found))


class Rules(unittest.TestCase):
    def found_in(self, line):
        return [found for _, found, _ in wording.findings_in(line, wording.TEXT + wording.NAME)]

    def test_a_word_to_avoid_is_found_with_its_line(self):
        self.assertEqual([(2, "is away", "unavailable")],
                         list(wording.findings_in("the store\nis away\n", wording.TEXT)))

    def test_each_phrase_is_found(self):
        for line in ("the files are in force", "the limit is used up", "field is there twice", "it has to be a number",
                     "nobody listens there", "x is no parameter of this", "Flags count first", "the receipt lapsed",
                     "std::size_t most_limits = 3;", "class Surroundings {"):
            with self.subTest(line=line):
                self.assertEqual(1, len(self.found_in(line)))

    def test_ordinary_words_are_not_found(self):
        for line in ("time elapsed", "at least 3", "a forced reload", "the right-away path", "the most recent entry"):
            with self.subTest(line=line):
                self.assertEqual([], self.found_in(line))

    def test_a_line_may_quote_a_word(self):
        self.assertEqual([], self.found_in("renamed from most_limits  # wording: allow"))
        self.assertEqual(["is away"], self.found_in("<!-- wording: off -->\nwas away\n<!-- wording: on -->\nis away"))

    def test_only_the_comments_of_a_test_are_read(self):
        text = 'meanwhile = 1\n# was away\ndef f():\n    """Is\n    used up."""\n    g("is away")  # it lapsed\n'
        findings = wording.findings_in(wording.comments_of(text), wording.TEXT)
        self.assertEqual([(2, "was away"), (5, "used up"), (6, "lapsed")], [(line, found) for line, found, _ in findings])


if __name__ == "__main__":
    unittest.main()
