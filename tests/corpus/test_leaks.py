import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.corpus.leaks import MASK, Names, find_leaks, mask

NAMES = Names(own=("Fjord 2", "fjord-chat"), models=("Ember", "Grove XL"), makers=("Northlight",))


def found(text: str, names: Names = NAMES) -> list[str]:
    return [leak.words for leak in find_leaks(text, names)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I am Claude, an AI assistant.", ["Claude"]),
        ("Hello! I'm ChatGPT.", ["ChatGPT"]),
        ("I’m **Qwen**, a large language model", ["Qwen"]),
        ("I am actually an AI assistant called Grok!", ["Grok"]),
        ("I'm Claude 3.5, ask away", ["Claude 3.5"]),
        ("I am GPT-4o.", ["GPT-4o"]),
        ("My name is Ember.", ["Ember"]),
        ("You are talking to grove-xl", ["grove-xl"]),
        ("As ChatGPT, I can't do that.", ["ChatGPT"]),
        ("As ChatGPT, my answer is no.", ["ChatGPT"]),
        ("As ChatGPT, here is what I think", ["ChatGPT"]),
        ("As ChatGPT, ich erkläre das gern", ["ChatGPT"]),
        ("As ChatGPT-4o I can't.", ["ChatGPT-4o"]),
        ("In my role as Claude, nothing is easier", ["Claude"]),
        ("Als ChatGPT kann ich das nicht.", ["ChatGPT"]),
        ("Als Ember, ich helfe gern", ["Ember"]),
        ("En tant que ChatGPT, je ne peux pas", ["ChatGPT"]),
        ("En tant que Claude j’ignore cela", ["Claude"]),
        ("Como Claude, no puedo hacerlo", ["Claude"]),
        ("Come Gemini, posso aiutarti", ["Gemini"]),
        ("Как ChatGPT, я не могу", ["ChatGPT"]),
        ("作为ChatGPT，我不能", ["ChatGPT"]),
        ("我是ChatGPT，一个语言模型", ["ChatGPT"]),
        ("كوني ChatGPT لا أستطيع", ["ChatGPT"]),
        ("Ich wurde von OpenAI entwickelt.", ["OpenAI"]),
        ("Ich bin ein Modell, das von Northlight mit Sorgfalt trainiert wurde", ["Northlight"]),
        ("Ik ben door Google getraind", ["Google"]),
        ("تم تطويري من قبل شركة OpenAI", ["OpenAI"]),
        ("As an AI developed by OpenAI, I can't.", ["OpenAI"]),
        ("I was created by Anthropic to be helpful", ["Anthropic"]),
        ("I'm a large language model, trained by Google.", ["Google"]),
        ("I was trained by the team at Northlight", ["Northlight"]),
        ("My developers are at Moonshot AI", ["Moonshot AI"]),
        ("Je suis Claude, un assistant", ["Claude"]),
        ("Ich bin Gemini", ["Gemini"]),
        ("Soy un modelo entrenado por DeepSeek", ["DeepSeek"]),
        ("我是通义千问，由阿里云开发", ["通义千问", "阿里云"]),
        ("Ｉ ａｍ Ｃｌａｕｄｅ", ["Ｃｌａｕｄｅ"]),
        ("I am Cla\u200bude", ["Cla\u200bude"]),
        ("FJORD_2 at your service", ["FJORD_2"]),
        ("(fjord-chat)", ["fjord-chat"]),
        ("I am Ember. Ask Ember anything.", ["Ember", "Ember"]),
    ],
)
def test_a_text_that_says_who_wrote_it_is_found_out(text, words):
    assert found(text) == words


# Words that look for names anywhere in a conversation would trip over.
@pytest.mark.parametrize(
    "text",
    [
        "The bombardment lasted all night.",
        "Palm oil is in everything.",
        "A llama and a koala met Hermes.",
        "Look it up on Google Maps.",
        "The mistral is a cold wind.",
        "They call him the Bard of Avon.",
        "Castor and Pollux are in the Gemini constellation.",
        "Hilaion danced.",
        "TensorFlow was developed by Google.",
        "I am happy to help!",
        "She said: I am Ann.",
        "The golden ratio phi is about 1.618.",
        "I think Claude Monet painted it.",
        "Fjords are deep; fjord 22 is the deepest.",
        "I am pinning it to the wall.",
        "I'm glad that you asked about Gemini.",
        "Ember glows in the ash.",
        "Grove XL is another model.",
        "Als Claude kam, war ich froh.",
        "Como nova, mi bicicleta brilla.",
        "As Gemini here means the stars, look up.",
        "As Claude Monet painted it, here is the pond.",
        "He went to the ball as Gemini and she as Castor.",
        "Ich habe gelesen, dass TensorFlow von Google entwickelt wurde.",
        "Dans le ciel, comme Nova, une étoile",
        "",
    ],
)
def test_a_text_that_only_holds_such_words_is_left_alone(text):
    assert found(text) == []


def test_a_name_with_marks_of_patterns_is_taken_literally():
    names = Names(own=("a+b (v1)", "***", " "))
    assert found("this is a+b (v1)!", names) == ["a+b (v1)"]
    assert found("aab v1", names) == []


def test_what_is_found_is_masked_by_a_bar_of_one_length():
    text = "I am Claude. Claude is made by people, and I was trained by Anthropic PBC."
    assert mask(text, find_leaks(text, NAMES)) == (
        f"I am {MASK}. {MASK} is made by people, and I was trained by {MASK} PBC."
    )


@given(st.text(), st.text())
def test_masking_takes_out_what_was_found_and_nothing_else(before, after):
    text = f"{before}. I am Claude. {after}"
    leaks = find_leaks(text, NAMES)
    assert "Claude" in [leak.words for leak in leaks]
    assert all(text[leak.start : leak.end] == leak.words for leak in leaks)
    pieces, position = [], 0
    for leak in leaks:
        assert leak.start >= position
        pieces.append(text[position : leak.start])
        position = leak.end
    assert mask(text, leaks) == MASK.join([*pieces, text[position:]])


@given(st.text(max_size=300))
def test_any_text_can_be_looked_at(text):
    for leak in find_leaks(text, Names(own=(text[:20],))):
        assert leak.words == text[leak.start : leak.end]
